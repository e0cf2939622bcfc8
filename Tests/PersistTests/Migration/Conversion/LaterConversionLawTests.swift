import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Laws of values that are converted after a migration")
struct LaterConversionLawTests {
  @Test(
    "Whatever is written between the parts, the store is like one that was migrated at once",
    .law("conversions-while-writing", short: 10, long: 500))
  func twins() throws {
    let models = try LaterConversionModels()
    var parts = 0
    let count = forEachSeed { seed in
      try withTemporaryFolder { folder in
        let urls = ["Store", "Twin"].map { folder.appendingPathComponent("\($0).sqlite") }
        try models.fill(urls[0], items: 900, seed: seed)
        try StoreBackup.copy(storeAt: urls[0], to: urls[1])
        try AutomaticMigrator().migrate(storeAt: urls[1], to: models.new, registry: models.registry)
        let coordinators = try urls.map { try models.open($0) }
        var random = SeededRandom(seed: seed)
        var isDone = false
        for round in 0..<30 where !isDone {
          let change = seed &* 1000 &+ UInt64(round)
          for coordinator in coordinators { try Self.write(coordinator, seed: change) }
          if Int.random(in: 0..<3, using: &random) == 0 {
            isDone = try coordinators[0].finishDeferredMigration(within: .zero)
            parts += 1
          }
          guard round % 5 == 0 else { continue }
          let expected = try StoreDump(of: models.new.model, at: urls[1])
          try #expect(StoreDump(of: models.new.model, at: urls[0]).differences(from: expected) == [])
        }
        try #expect(coordinators[0].finishDeferredMigration())
        for coordinator in coordinators { try Self.write(coordinator, seed: seed &* 1000 &+ 999) }
        try coordinators.forEach(LaterConversionModels.close)
        let expected = try StoreDump(of: models.new.model, at: urls[1])
        try #expect(StoreDump(of: models.new.model, at: urls[0]).differences(from: expected) == [])
        try MadeStore.expectNewStore(of: models.new.model, at: urls[0])
        var problems: [StoreProblem] = []
        try checkStore(at: urls[0], registry: models.registry) { problems.append($0) }
        #expect(problems == [])
      }
    }
    #expect(parts > count)
  }

  @Test(
    "Whoever writes while columns are dropped and indexes created, the store is like one that was migrated at once",
    .law("writing-while-columns-are-dropped", short: 8, long: 400))
  func givingWay() throws {
    let models = try LaterConversionModels(addsIndex: true)
    let gaveWay = LockProtected(0)
    let count = forEachSeed { seed in
      try withTemporaryFolder { folder in
        let urls = ["Store", "Twin"].map { folder.appendingPathComponent("\($0).sqlite") }
        try models.fill(urls[0], items: 1500, seed: seed)
        try StoreBackup.copy(storeAt: urls[0], to: urls[1])
        var atOnce = LaterConversionModels.dropping
        atOnce.defersWork = false
        try atOnce.migrate(storeAt: urls[1], to: models.new, registry: models.registry)
        let coordinators = try urls.map {
          try models.open($0, options: StoreOptions(migrator: LaterConversionModels.dropping))
        }
        let store = try #require(coordinators[0].openStores.first as? SQLiteStore)
        // Another coordinator asks for the store by the file beside it.
        let other = try models.open(urls[0])
        var random = SeededRandom(seed: seed)
        var rest = try store.deferredSteps()
        #expect(rest.contains { if case .dropColumn = $0 { true } else { false } })
        for round in 0..<40 where !rest.isEmpty {
          let change = seed &* 1000 &+ UInt64(round)
          let writer = Bool.random(using: &random) ? coordinators[0] : other
          let place = Int.random(in: 1...12, using: &random)
          let group = DispatchGroup()
          var (hasBegun, asked) = (false, 0)
          let before = rest
          rest = try store.finishDeferredSteps(until: .now, givingWay: true) { number in
            asked = number
            guard number == place else { return }
            hasBegun = true
            let isDone = LockProtected(false)
            group.enter()
            Thread.detachNewThread {
              do { try Self.write(writer, seed: change) } catch { Issue.record(error) }
              isDone.withLock { $0 = true }
              group.leave()
            }
            let mark = GivingWayMark.url(besideStoreAt: urls[0])
            while store.pool.turn.waitingCount == 0, FileState(mark) != nil, !isDone.withLock({ $0 }) {
              Thread.sleep(forTimeInterval: 0.001)
            }
          }
          group.wait()
          if hasBegun {
            try Self.write(coordinators[1], seed: change)
            // A change that writes nothing needs no turn.
            if asked == place, rest == before { gaveWay.withLock { $0 += 1 } }
          }
          guard round % 4 == 0 else { continue }
          let expected = try StoreDump(of: models.new.model, at: urls[1])
          try #expect(StoreDump(of: models.new.model, at: urls[0]).differences(from: expected) == [])
        }
        try #expect(coordinators[0].finishDeferredMigration())
        try (coordinators + [other]).forEach(LaterConversionModels.close)
        let expected = try StoreDump(of: models.new.model, at: urls[1])
        try #expect(StoreDump(of: models.new.model, at: urls[0]).differences(from: expected) == [])
        try MadeStore.expectNewStore(of: models.new.model, at: urls[0])
        try #expect(MadeStore.rows("PRAGMA integrity_check", at: urls[0]) == [["ok"]])
      }
    }
    #expect(gaveWay.withLock { $0 } > count)
  }

  /// Inserts, changes and deletes objects, all determined by the seed and the contents of the store.
  private static func write(_ coordinator: PersistentStoreCoordinator, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ManagedObjectContext(coordinator)
    func pick(_ entity: String) throws -> ManagedObject? {
      let number = Int.random(in: 0..<1000, using: &random)
      let request = try FetchRequest<ManagedObject>(
        entity, where: "name >= %@", "Item \(number)", sortedBy: [.init("name")], limit: 1)
      return try context.fetch(request).first
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let item = ManagedObject(entity: Bool.random(using: &random) ? "Item" : "Toy", context: context)
        item["name"] = "Item \(Int.random(in: 0..<10_000, using: &random))"
        item["price"] = Double(Int.random(in: 0..<9, using: &random)) / 2
      case 1: if let item = try pick("Item") { context.delete(item) }
      case 2: try pick("Item")?["amount"] = Int.random(in: 0..<100, using: &random)
      case 3: try pick("Item")?["price"] = Double.random(in: 0..<1, using: &random)
      case 4: try pick("Toy")?["age"] = Int.random(in: 0..<100, using: &random)
      case 5:
        let shops = try context.fetch(FetchRequest("Shop", sortedBy: [.init("name")]))
        try pick("Item")?["shop"] = shops.randomElement(using: &random)
      case 6:
        try context.save()
        let low = Int.random(in: 0..<900, using: &random)
        try context.execute(
          BatchUpdateRequest(
            "Item", where: FetchPredicate("name BETWEEN {%@, %@}", "Item \(low)", "Item \(low + 20)"),
            set: ["price": .value(Double(low))]))
        context.reset()
      case 7:
        try context.save()
        let low = Int.random(in: 0..<900, using: &random)
        let toys = try FetchPredicate("shop.name == 'Shop 2' AND name BETWEEN {%@, %@}", "Item \(low)", "Item 9")
        var request = FetchRequest<ManagedObject>("Toy")
        request.predicate = toys
        let ids = try Set(context.fetch(request).map(\.objectID))
        let update = BatchUpdateRequest(
          "Toy", where: toys, set: ["amount": try FetchExpression("amount + 1")],
          resultType: .updatedObjectIDsResultType)
        try #expect(context.execute(update).objectIDs.map { Set($0) } == ids)
        context.reset()
      case 8:
        try context.save()
        let low = Int.random(in: 0..<900, using: &random)
        let some = try FetchPredicate("name BETWEEN {%@, %@}", "Item \(low)", "Item \(low + 1)")
        var request = FetchRequest<ManagedObject>("Item")
        request.predicate = some
        let count = try context.count(for: request)
        try #expect(context.execute(BatchDeleteRequest("Item", where: some)).count == count)
        context.reset()
      default:
        let item = try pick("Item")
        let tags = try context.fetch(FetchRequest("Tag"))
        item?["tags"] = Bool.random(using: &random) ? Set(tags) : Set<ManagedObject>()
      }
    }
    try context.save()
  }

  @Test("Killed at any moment, the store is complete and the remaining steps are performed the next time")
  func killed() throws {
    let models = try LaterConversionModels(addsIndex: true)
    let options = StoreOptions(migrator: LaterConversionModels.dropping)
    try withTemporaryFolder { folder in
      let work = folder.appendingPathComponent("work")
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
      let (url, twin) = (work.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Twin.sqlite"))
      try models.fill(url, items: 450)
      try StoreBackup.copy(storeAt: url, to: twin)
      let old = try StoreDump(of: models.old.model, at: url)
      try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
      let expected = try StoreDump(of: models.new.model, at: twin)
      let recorder = CrashRecorder(work)
      try WatchedFiles.watching(work, { recorder.record($0) }) {
        let coordinator = try models.open(url, options: options)
        while try !coordinator.finishDeferredMigration(within: .zero) {}
        try LaterConversionModels.close(coordinator)
      }
      recorder.recordEnd()
      let images = recorder.images
      #expect(images.count > 20)
      var unfinished = 0
      for (number, image) in images.enumerated() where number % max(1, (images.count + 99) / 100) == 0 {
        let place = folder.appendingPathComponent("image-\(number)")
        try image.write(to: place)
        let store = place.appendingPathComponent("Store.sqlite")
        try UnfinishedWork.cleanUp(storeAt: store, options: StoreOptions())
        let isOld = try StoreIdentification.identify(storeAt: store, registry: models.registry).version?.name == "1"
        let found = try StoreDump(of: isOld ? models.old.model : models.new.model, at: store)
        #expect(found.differences(from: isOld ? old : expected) == [], "\(image.moment)")
        if try !LaterConversionModels.converted(store).isEmpty { unfinished += 1 }
        let coordinator = try models.open(store, options: options)
        try #expect(coordinator.finishDeferredMigration())
        try LaterConversionModels.close(coordinator)
        try #expect(StoreDump(of: models.new.model, at: store).differences(from: expected) == [], "\(image.moment)")
        try MadeStore.expectNewStore(of: models.new.model, at: store)
        try FileManager.default.removeItem(at: place)
      }
      #expect(unfinished > 2)
    }
  }
}
