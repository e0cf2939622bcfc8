import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Values that are converted after a migration")
struct LaterConversionTests {
  /// Calls `body` with a store whose values aren't converted, and with the contents that it must have.
  private func withUnconverted(
    items: Int = 900, isUnique: Bool = false,
    _ body: (_ url: URL, _ models: LaterConversionModels, _ expected: StoreDump) throws -> Void
  ) throws {
    let models = try LaterConversionModels(isUnique: isUnique)
    try withTemporaryFolder { folder in
      let (url, twin) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Twin.sqlite"))
      try models.fill(url, items: items)
      try StoreBackup.copy(storeAt: url, to: twin)
      try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
      try LaterConversionModels.deferring.migrate(storeAt: url, to: models.new, registry: models.registry)
      try #expect(LaterConversionModels.converted(url) == ["ZITEM", "ZSHOP", "ZTAG"])
      try #expect(LaterConversionModels.views(url) == 3)
      try body(url, models, StoreDump(of: models.new.model, at: twin))
    }
  }

  private func finish(_ url: URL, _ models: LaterConversionModels, expecting dump: StoreDump) throws {
    let coordinator = try models.open(url)
    try #expect(coordinator.finishDeferredMigration())
    try LaterConversionModels.close(coordinator)
    try #expect(StoreDump(of: models.new.model, at: url).differences(from: dump) == [])
    try MadeStore.expectNewStore(of: models.new.model, at: url)
    try #expect(LaterConversionModels.converted(url).isEmpty)
    try #expect(LaterConversionModels.views(url) == 0)
  }

  @Test("The plan says what is converted, as text and as JSON, and writes no rows at once")
  func plan() throws {
    let models = try LaterConversionModels()
    try withTemporaryStore { url in
      try models.fill(url, items: 20)
      let plan = try MigrationPlan(
        storeAt: url, to: models.new, registry: models.registry, migrator: LaterConversionModels.deferring)
      let later = plan.steps.flatMap(\.deferred).filter { $0.contains("in parts, while the store is used") }
      #expect(later.count == 3)
      #expect(later.allSatisfy { $0.hasPrefix("UPDATE ") && $0.contains("Z_ENT") })
      #expect(plan.description.contains("later: UPDATE ZITEM SET Z_ENT = CASE Z_ENT"))
      #expect(!plan.steps.flatMap(\.sql).contains { $0.hasPrefix("UPDATE ") || $0.hasPrefix("CREATE TABLE \"ZITEM") })
      let json = try String(decoding: JSONEncoder().encode(plan), as: UTF8.self)
      #expect(json.contains("in parts, while the store is used"))
      // With the default budget, so few rows are converted at once.
      var migrator = AutomaticMigrator()
      migrator.defersWork = true
      let small = try MigrationPlan(storeAt: url, to: models.new, registry: models.registry, migrator: migrator)
      #expect(!small.description.contains("in parts"))
    }
  }

  @Test("The store opens at once, shows all rows as converted, and becomes a new store of the model part by part")
  func parts() throws {
    try withUnconverted { url, models, expected in
      try #expect(StoreDump(of: models.new.model, at: url).differences(from: expected) == [])
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: models.registry) { problems.append($0) }
      #expect(problems == [])
      try #expect(StoreIdentification.identify(storeAt: url, registry: models.registry).version?.name == "2")
      let coordinator = try models.open(url)
      var count = 0
      while try !coordinator.finishDeferredMigration(within: .zero) {
        count += 1
        try #expect(StoreDump(of: models.new.model, at: url).differences(from: expected) == [])
      }
      #expect(count > 4)
      try LaterConversionModels.close(coordinator)
      try MadeStore.expectNewStore(of: models.new.model, at: url)
      try #expect(StoreDump(of: models.new.model, at: url).differences(from: expected) == [])
    }
  }

  @Test("Predicates, sort orders and relationships see the new values of unconverted rows")
  func fetching() throws {
    try withUnconverted { url, models, expected in
      let coordinator = try models.open(url)
      let context = ManagedObjectContext(coordinator)
      func answers() throws -> [String] {
        let half = try context.count(for: FetchRequest("Item", where: "amount == 7"))
        let prices = try context.fetch(
          FetchRequest("Item", where: "price / 2 == 1.5", sortedBy: [.init("name")])).map { "\($0["name"] ?? "")" }
        let toys = try context.count(for: FetchRequest("Toy", where: "shop.name == 'Shop 2' AND amount > 3"))
        let shops = try context.count(for: FetchRequest("Shop", where: "ANY items.amount == 7"))
        let ranks = try context.fetch(
          FetchRequest("Item", where: "rank != nil", sortedBy: [.init("rank")])).prefix(5)
        return ["\(half)", "\(prices)", "\(toys)", "\(shops)", "\(ranks.map { "\($0["rank"] ?? "")" })"]
      }
      let before = try answers()
      #expect(!before[1].isEmpty && before[0] != "0" && before[2] != "0")
      try #expect(coordinator.finishDeferredMigration())
      context.reset()
      try #expect(answers() == before)
      try LaterConversionModels.close(coordinator)
      try #expect(StoreDump(of: models.new.model, at: url).differences(from: expected) == [])
    }
  }

  @Test("Saves, batch operations and deletions report what they change, before, during and after the conversion")
  func writing() throws {
    try withUnconverted { url, models, _ in
      let coordinator = try models.open(url)
      for round in 0..<3 {
        let context = ManagedObjectContext(coordinator)
        let item = ManagedObject(entity: "Toy", context: context)
        item["name"] = "new \(round)"
        item["price"] = 2.0
        let other = try #require(try context.fetch(FetchRequest("Item", where: "name == 'Item \(100 + round)'")).first)
        other["price"] = 1.25
        other["shop"] = nil
        let gone = try #require(try context.fetch(FetchRequest("Item", where: "name == 'Item \(800 + round)'")).first)
        context.delete(gone)
        try context.save()
        try #expect(context.count(for: FetchRequest("Item", where: "price == 1.25")) == 1)
        let update = BatchUpdateRequest(
          "Item", where: try FetchPredicate("name BEGINSWITH 'Item 2'"), set: ["amount": .value(40 + round)])
        try #expect(context.execute(update).count == 111)
        let delete = BatchDeleteRequest("Item", where: try FetchPredicate("name == 'Item \(500 + round)'"))
        try #expect(context.execute(delete).count == 1)
        // Another context's version is outdated.
        let late = ManagedObjectContext(coordinator)
        let stale = try #require(try late.fetch(FetchRequest("Item", where: "name == 'Item \(100 + round)'")).first)
        _ = stale["price"]
        other["price"] = 1.5
        try context.save()
        stale["price"] = 9.0
        #expect(throws: PersistenceError.self) { try late.save() }
        if round < 2 { _ = try coordinator.finishDeferredMigration(within: .zero) }
        if round == 1 { try #expect(coordinator.finishDeferredMigration()) }
      }
      try LaterConversionModels.close(coordinator)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: url) == [["897"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM WHERE ZPRICE = 1.5", at: url) == [["3"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM WHERE ZAMOUNT = 42", at: url) == [["111"]])
      try MadeStore.expectNewStore(of: models.new.model, at: url)
    }
  }

  @Test("Unique values stay unique, and an upsert converts its table first")
  func uniqueValues() throws {
    try withUnconverted(isUnique: true) { url, models, _ in
      let coordinator = try models.open(url)
      let context = ManagedObjectContext(coordinator)
      let item = ManagedObject(entity: "Item", context: context)
      item["name"] = "Item 700"
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .constraintConflict)
      #expect(error?.place.property == "name")
      context.rollback()
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.execute(BatchInsertRequest("Item", [["name": "Item 700", "price": 3.5], ["name": "other"]]))
      try #expect(context.count(for: FetchRequest("Item", where: "name == 'Item 700' AND price == 3.5")) == 1)
      try #expect(!LaterConversionModels.converted(url).contains("ZITEM"))
      try #expect(coordinator.finishDeferredMigration())
      try LaterConversionModels.close(coordinator)
      try MadeStore.expectNewStore(of: models.new.model, at: url)
    }
  }

  @Test("A later migration converts the remaining values first, in place and by copy", arguments: [false, true])
  func later(_ copies: Bool) throws {
    try withUnconverted { url, models, expected in
      var migrator = LaterConversionModels.deferring
      migrator.alwaysCopies = copies
      try migrator.migrate(storeAt: url, to: models.newest, registry: models.registry)
      let wanted = expected.migrated(by: try ModelComparison(from: models.new.model, to: models.newest.model))
      try #expect(StoreDump(of: models.newest.model, at: url).differences(from: wanted) == [])
      let coordinator = PersistentStoreCoordinator(model: models.newest.model, registry: models.registry)
      try coordinator.addStore(at: url)
      try #expect(coordinator.finishDeferredMigration())
      try LaterConversionModels.close(coordinator)
      try MadeStore.expectNewStore(of: models.newest.model, at: url)
      try #expect(StoreDump(of: models.newest.model, at: url).differences(from: wanted) == [])
    }
  }

  @Test("Going back brings parked values and types back")
  func back() throws {
    try withUnconverted { url, models, _ in
      try AutomaticMigrator(downgrade: .withoutLoss).migrate(
        storeAt: url, to: models.newest, registry: models.registry)
      try #expect(LaterConversionModels.converted(url).isEmpty)
      let parked = try MadeStore.rows("SELECT COUNT(PERSIST_PARKED_1) FROM ZITEM", at: url)
      #expect(parked == [["900"]])
    }
  }

  @Test("A backup and a copy of an unfinished store can be finished like it")
  func copies() throws {
    try withUnconverted { url, models, expected in
      let coordinator = try models.open(url)
      _ = try coordinator.finishDeferredMigration(within: .zero)
      let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      try StoreBackup.copy(storeAt: url, to: copy)
      try #expect(LaterConversionModels.converted(copy).contains("ZITEM"))
      try finish(copy, models, expecting: expected)
      try LaterConversionModels.close(coordinator)
      try finish(url, models, expecting: expected)
    }
  }

  @Test("A store that is opened for reading only shows converted values, and isn't changed")
  func readOnly() throws {
    try withUnconverted { url, models, _ in
      let coordinator = try models.open(url, options: StoreOptions(isReadOnly: true))
      let context = ManagedObjectContext(coordinator)
      try #expect(context.count(for: FetchRequest("Item", where: "amount == nil")) == 0)
      let error = #expect(throws: PersistenceError.self) { try coordinator.finishDeferredMigration() }
      #expect(error?.code == .storeReadOnly)
      try LaterConversionModels.close(coordinator)
    }
  }

  @Test("A history with old values needs the tables themselves: opening with one converts the rows first")
  func oldValues() throws {
    try withUnconverted { url, models, expected in
      let coordinator = try models.open(
        url, options: StoreOptions(tracksHistory: true, historyKeeps: .oldValues))
      try #expect(LaterConversionModels.converted(url).isEmpty)
      let context = ManagedObjectContext(coordinator)
      let item = try #require(try context.fetch(FetchRequest("Item", where: "name == 'Item 5'")).first)
      let former = item["price"].map { "\($0)" } ?? "nil"
      item["price"] = 100.0
      try context.save()
      try LaterConversionModels.close(coordinator)
      let key = try MadeStore.rows("SELECT Z_PK FROM ZITEM WHERE ZNAME = 'Item 5'", at: url)[0][0]
      try #expect(
        StoreDump(of: models.new.model, at: url).differences(from: expected)
          == ["Item \(key).Z_OPT: 2, expected 1", "Item \(key).price: 100.0, expected \(former)"])
    }
  }

  @Test("Beginning a conversion looks up the first and the last row of a table, and reads no other")
  func beginning() throws {
    try withUnconverted { url, _, _ in
      let plan = try MadeStore.rows("EXPLAIN QUERY PLAN \(SQLText.recordEnds(ofRowsOf: "ZITEM").text)", at: url)
      let details = plan.compactMap(\.last)
      #expect(details.filter { $0.hasPrefix("SEARCH") }.count == 2, "\(details)")
      #expect(!details.contains { $0.hasPrefix("SCAN") && $0.contains("PERSIST_ROWS_ZITEM") }, "\(details)")
    }
  }

  @Test("Other programs read and write the store by SQL, and lose nothing")
  func otherPrograms() throws {
    try withUnconverted { url, models, _ in
      try MadeStore.run(
        "UPDATE ZITEM SET ZPRICE = 0.5 WHERE ZNAME = 'Item 3'", "DELETE FROM ZITEM WHERE ZNAME = 'Item 4'",
        "UPDATE ZSHOP SET ZNAME = 'by SQL' WHERE ZNAME = 'Shop 1'", at: url)
      let number = try MadeStore.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Toy'", at: url)
      try #expect(
        MadeStore.rows("SELECT Z_ENT, ZPRICE FROM ZITEM WHERE ZNAME = 'Item 3'", at: url)
          == [number[0] + ["0.5"]])
      let coordinator = try models.open(url)
      try #expect(coordinator.finishDeferredMigration())
      try LaterConversionModels.close(coordinator)
      try #expect(
        MadeStore.rows("SELECT Z_ENT, ZPRICE FROM ZITEM WHERE ZNAME = 'Item 3'", at: url)
          == [number[0] + ["0.5"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: url) == [["899"]])
      try MadeStore.expectNewStore(of: models.new.model, at: url)
    }
  }
}
