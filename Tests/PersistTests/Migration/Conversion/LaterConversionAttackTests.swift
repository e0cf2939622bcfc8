import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Attacks on conversions after a migration", .aboutFiles("locks, logs and space of files"))
struct LaterConversionAttackTests {
  /// A store of the old version beside an equal one.
  private func withTwins(
    _ models: LaterConversionModels, items: Int, seed: UInt64 = 1, _ body: (_ url: URL, _ twin: URL) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let (url, twin) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Twin.sqlite"))
      try models.fill(url, items: items, seed: seed)
      try StoreBackup.copy(storeAt: url, to: twin)
      try body(url, twin)
    }
  }

  /// Changes, deletes and adds items by their names, which only the seed decides.
  private func write(_ coordinator: PersistentStoreCoordinator, items: Int, seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ManagedObjectContext(coordinator)
    for _ in 0..<20 {
      let name = "Item \(Int.random(in: 0..<items, using: &random))"
      let item = try context.fetch(FetchRequest("Item", where: "name == %@", name)).first
      switch Int.random(in: 0..<4, using: &random) {
      case 0: if let item { context.delete(item) }
      case 1: ManagedObject(entity: "Item", context: context)["name"] = "new \(name)"
      default:
        item?["price"] = Double(Int.random(in: 0...99, using: &random))
        item?["amount"] = Int.random(in: 0...99, using: &random)
      }
      try context.save()
    }
  }

  /// The files that a killed process leaves at this moment.
  private func crash(_ url: URL, to copy: URL) throws {
    try FileManager.default.copyItem(at: url, to: copy)
    let log = SQLiteFileName.companion(of: url, "-wal")
    guard FileState(log) != nil else { return }
    try FileManager.default.copyItem(at: log, to: SQLiteFileName.companion(of: copy, "-wal"))
  }

  @Test(
    "Beside a program with the old model, killed in between and opened with the old model again, nothing is lost",
    .law("later-conversions-attacked", short: 6, long: 200))
  func oldProgram() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let models = try LaterConversionModels(addsIndex: true)
      let items = Int.random(in: 50...400, using: &random)
      try withTwins(models, items: items, seed: seed) { url, twin in
        let name = "seed \(seed)"
        let old = PersistentStoreCoordinator(model: models.old.model)
        try old.addStore(at: url)
        let former = ManagedObjectContext(old)
        let held = try former.fetch(FetchRequest("Item"))
        held.first?["name"] = "changed"
        let coordinator = try models.open(url)
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          _ = try coordinator.finishDeferredMigration(within: .zero)
        }
        let saving = #expect(throws: PersistenceError.self, "\(name)") { try former.save() }
        #expect(saving?.code == .incompatibleModel, "\(name): \(saving as Any)")
        let reading = #expect(throws: PersistenceError.self, "\(name)") {
          try ManagedObjectContext(old).fetch(FetchRequest("Item"))
        }
        #expect(reading?.code == .incompatibleModel, "\(name): \(reading as Any)")
        try write(coordinator, items: items, seed: seed)
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          _ = try coordinator.finishDeferredMigration(within: .zero)
        }
        let image = url.deletingLastPathComponent().appendingPathComponent("Image.sqlite")
        try crash(url, to: image)
        for coordinator in [old, coordinator] { try LaterConversionModels.close(coordinator) }

        let atOnce = PersistentStoreCoordinator(model: models.new.model, registry: models.registry)
        try atOnce.addStore(at: twin, options: .automaticMigration)
        try write(atOnce, items: items, seed: seed)
        try LaterConversionModels.close(atOnce)
        let options = StoreOptions(migrator: AutomaticMigrator(allowsLoss: true, downgrade: .withLoss))
        let codes = [image, twin].map { store -> PersistenceError.Code? in
          let again = PersistentStoreCoordinator(model: models.old.model, registry: models.registry)
          do { try again.addStore(at: store, options: options) } catch let error as PersistenceError {
            return error.code
          } catch { return .sqlite }
          try? LaterConversionModels.close(again)
          return nil
        }
        // Numbers that the old type can't represent keep both from going back.
        #expect(codes[0] == codes[1], "\(name): \(codes)")
        let model = codes[1] == nil ? models.old.model : models.new.model
        try #expect(
          StoreDump(of: model, at: image).differences(from: StoreDump(of: model, at: twin)) == [],
          "\(name), opened with the old model")
        let last = try models.open(image)
        try #expect(last.finishDeferredMigration(), "\(name)")
        try LaterConversionModels.close(last)
        try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
        try #expect(
          StoreDump(of: models.new.model, at: image).differences(from: StoreDump(of: models.new.model, at: twin)) == [],
          "\(name), with the new model again")
        var problems: [StoreProblem] = []
        try checkStore(at: image) { if $0.kind != .missingFile { problems.append($0) } }
        #expect(problems == [], "\(name)")
      }
    }
  }

  @Test("A disk that is full at any step leaves a store that can be read, and finished when there is space")
  func fullDisk() throws {
    let models = try LaterConversionModels(addsIndex: true)
    try withTwins(models, items: 900) { url, twin in
      try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
      let expected = try StoreDump(of: models.new.model, at: twin)
      var migrator = LaterConversionModels.dropping
      migrator.parking = .none
      try LaterConversionModels.close(models.open(url, options: StoreOptions(migrator: migrator)))
      let pages = try Int(MadeStore.rows("PRAGMA page_count", at: url)[0][0]) ?? 0
      var (failures, successes) = (0, 0)
      for room in [0, 1, 2, 4, 8, 16, 32, 64] {
        let store = url.deletingLastPathComponent().appendingPathComponent("Full-\(room).sqlite")
        try crash(url, to: store)
        var options = StoreOptions(migrator: migrator)
        options.pragmas = ["max_page_count": "\(pages + room)"]
        let coordinator = try models.open(store, options: options)
        do {
          while try !coordinator.finishDeferredMigration(within: .zero) {}
          successes += 1
        } catch let error as PersistenceError {
          #expect(error.code == .diskFull, "\(room): \(error)")
          failures += 1
        }
        let context = ManagedObjectContext(coordinator)
        try #expect(context.count(for: FetchRequest("Item", where: "amount == nil")) == 0, "\(room)")
        try LaterConversionModels.close(coordinator)
        try #expect(StoreDump(of: models.new.model, at: store).differences(from: expected) == [], "\(room)")
        let last = try models.open(store, options: StoreOptions(migrator: migrator))
        try #expect(last.finishDeferredMigration(), "\(room)")
        try LaterConversionModels.close(last)
        try #expect(StoreDump(of: models.new.model, at: store).differences(from: expected) == [], "\(room)")
        try MadeStore.expectNewStore(of: models.new.model, at: store)
      }
      #expect(failures > 0 && successes > 0, "\(failures) failures, \(successes) successes")
    }
  }

  @Test("Readers of a former state, and a program that has the store open for reading only, see each row throughout")
  func readers() throws {
    let models = try LaterConversionModels(addsIndex: true)
    try withTwins(models, items: 900) { url, twin in
      try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
      let expected = try StoreDump(of: models.new.model, at: twin)
      let options = StoreOptions(migrator: LaterConversionModels.dropping)
      let coordinator = try models.open(url, options: options)
      let reading = PersistentStoreCoordinator(model: models.new.model)
      try reading.addStore(at: url, options: StoreOptions(isReadOnly: true))
      func missing() throws -> [Int] {
        let context = ManagedObjectContext(reading)
        return try [
          context.count(for: FetchRequest("Item")), context.count(for: FetchRequest("Item", where: "amount == nil")),
          context.fetch(FetchRequest("Item", where: "shop.name BEGINSWITH 'Shop'")).count,
        ]
      }
      let first = try SQLiteConnection(url, mode: .readOnly)
      defer { first.close() }
      var isDone = false
      try first.readTransaction {
        let before = try first.first("SELECT COUNT(*) FROM ZITEM") { $0.integer(0) }
        while !isDone {
          isDone = try coordinator.finishDeferredMigration(within: .zero)
          try #expect(missing() == [900, 0, 900])
        }
        try #expect(first.first("SELECT COUNT(*) FROM ZITEM") { $0.integer(0) } == before)
      }
      for coordinator in [coordinator, reading] { try LaterConversionModels.close(coordinator) }
      try #expect(StoreDump(of: models.new.model, at: url).differences(from: expected) == [])
      try MadeStore.expectNewStore(of: models.new.model, at: url)
    }
  }
}
