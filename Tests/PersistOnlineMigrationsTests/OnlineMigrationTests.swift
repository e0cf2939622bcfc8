import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

@Suite("Online migrations", .needsServer)
struct OnlineMigrationTests {
  /// A store of the old version with some objects.
  private func fill(_ url: URL, _ version: ModelVersion) throws -> OnlineProgram {
    let program = try OnlineProgram(version, url)
    let drinks = try program.insert("Category", ["label": "Drinks"])
    let cold = try program.insert("Tag", ["label": "cold"])
    for name in ["Tea", "Milk", "Juice"] {
      let item = try program.insert("Item", ["name": name, "colour": "white", "count": 1])
      item["category"] = drinks
      item["tags"] = RelationshipSet([cold])
    }
    try program.save()
    return program
  }

  @Test("Programs with both models read and write the store, and see each other's changes")
  func bothModels() throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      let first = try fill(url, old)
      let migration = OnlineMigration(storeAt: url)
      try #expect(migration.status().state == .none)
      try migration.expand(to: new)
      try #expect(migration.status().state == .expanded)
      // The old program goes on, and a new one isn't served yet.
      try first.insert("Item", ["name": "Water"])
      try first.save()
      #expect(throws: PersistenceError.self) { try OnlineProgram(new, url) }
      try #expect(migration.backfill())
      let second = try OnlineProgram(new, url)
      try #expect(second.values("Item", "title") == ["Juice", "Milk", "Tea", "Water"])
      try #expect(second.values("Item", "state") == ["new", "new", "new", "new"])
      let tea = try #require(second.all("Item").first { $0["title"] as? String == "Tea" })
      #expect((tea["group"] as? ManagedObject)?["label"] as? String == "Drinks")
      #expect(OnlineProgram.keys(tea["labels"]).count == 1)
      // The new program writes.
      tea["title"] = "Green tea"
      tea["state"] = "sold"
      tea["labels"] = RelationshipSet<ManagedObject>([ManagedObject]())
      tea["group"] = try second.insert("Category", ["label": "Hot"])
      let supplier = try second.insert("Supplier", ["name": "Smith"])
      let coffee = try second.insert("Item", ["title": "Coffee"])
      coffee["supplier"] = supplier
      try second.save()
      try #expect(first.values("Item", "name") == ["Coffee", "Green tea", "Juice", "Milk", "Water"])
      let known = try #require(first.all("Item").first { $0["name"] as? String == "Green tea" })
      #expect((known["category"] as? ManagedObject)?["label"] as? String == "Hot")
      #expect(OnlineProgram.keys(known["tags"]).isEmpty)
      #expect(known["colour"] as? String == "white")
      // The old program writes.
      known["name"] = "Black tea"
      known["tags"] = RelationshipSet(try first.all("Tag"))
      try first.insert("Item", ["name": "Cocoa"])
      try first.save()
      try #expect(second.values("Item", "title") == ["Black tea", "Cocoa", "Coffee", "Juice", "Milk", "Water"])
      try #expect(second.values("Item", "state") == ["new", "new", "new", "new", "new", "sold"])
      let black = try #require(second.all("Item").first { $0["title"] as? String == "Black tea" })
      #expect(OnlineProgram.keys(black["labels"]).count == 1)
      try first.close()
      try second.close()
    }
  }

  @Test("Contracting gives what the migration in one step gives, and new programs go on")
  func contract() throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      try fill(url, old).close()
      let other = otherStore("offline", beside: url)
      try fill(other, old).close()
      try AutomaticMigrator().migrate(storeAt: other, to: new, registry: nil)
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: new)
      try migration.backfill()
      let program = try OnlineProgram(new, url)
      let before = try program.dump()
      let report = try migration.contract()
      #expect(report.from == "Shop 1" && report.to == "Shop 2")
      try #expect(migration.status().state == .none)
      try #expect(program.dump() == before)
      try program.insert("Item", ["title": "Salt"])
      try program.save()
      try #expect(program.values("Item", "title") == ["Juice", "Milk", "Salt", "Tea"])
      try program.close()
      let offline = try OnlineProgram(new, other)
      try #expect(offline.dump() == before)
      try offline.close()
      let (online, once) = (try Set(schema(url)), try Set(schema(other)))
      #expect(online.symmetricDifference(once).isEmpty, "\(online.symmetricDifference(once).sorted())")
      try expectIntact(url)
    }
  }

  @Test(
    "An abandoned migration keeps what both models have, and parks what only the new one has",
    arguments: [true, false])
  func abandon(afterBackfill: Bool) throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      let first = try fill(url, old)
      let layout = try schema(url)
      let before = try first.dump()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: new)
      if afterBackfill {
        try migration.backfill()
        let second = try OnlineProgram(new, url)
        let tea = try #require(second.all("Item").first { $0["title"] as? String == "Tea" })
        tea["title"] = "Green tea"
        tea["state"] = "sold"
        try second.save()
        try second.close()
      }
      try migration.abort()
      try #expect(migration.status().state == .none)
      let after = before.map { afterBackfill ? $0.replacing("name=Tea", with: "name=Green tea") : $0 }.sorted()
      try #expect(first.dump() == after)
      if !afterBackfill { try #expect(schema(url) == layout) }
      try expectIntact(url)
      // The second attempt finds what was parked.
      try migration.expand(to: new)
      try migration.backfill()
      let second = try OnlineProgram(new, url)
      let states = try second.values("Item", "state")
      #expect(states == (afterBackfill ? ["new", "new", "sold"] : ["new", "new", "new"]))
      try second.close()
      try first.close()
      try migration.contract()
      try expectIntact(url)
    }
  }

  @Test("While a program has the old model, the store isn't contracted without force")
  func oldPrograms() throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      let running = try fill(url, old)
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: new)
      try migration.backfill()
      let other = try OnlineProgram(old, url)
      try #expect(migration.status().oldPrograms.count == 1)
      // One that was open before is seen with its next read.
      _ = try running.all("Item")
      try #expect(migration.status().oldPrograms.count == 2)
      try running.close()
      let error = #expect(throws: PersistenceError.self) { try migration.contract() }
      #expect(error?.code == .storeBusy)
      try migration.contract(force: true)
      let late = #expect(throws: PersistenceError.self) { try other.all("Item") }
      #expect(late?.code == .incompatibleModel)
      try other.close()
    }
  }

  @Test("A third version is refused, online and offline")
  func thirdVersion() throws {
    try OnlineShop.withStore { url in
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
      let third = try OnlineShop.version("Shop 3", EntityDescription("Item", attributes: [.init("price", .decimal)]))
      try fill(url, old).close()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: new)
      let again = #expect(throws: PersistenceError.self) { try migration.expand(to: third) }
      #expect(again?.code == .migrationFailed && again?.message.contains("Shop 2") == true)
      let offline = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator().migrate(storeAt: url, to: third, registry: nil)
      }
      #expect(offline?.code == .migrationFailed && offline?.message.contains("Shop 2") == true, "\(offline as Any)")
      let opening = #expect(throws: PersistenceError.self) {
        try OnlineProgram(third, url, options: .automaticMigration)
      }
      #expect(opening?.code == .migrationFailed, "\(opening as Any)")
      try migration.backfill()
      // Programs that migrate automatically use the store as it is.
      for version in [old, new] { try OnlineProgram(version, url, options: .automaticMigration).close() }
      try #expect(migration.status().state == .serving)
      try migration.abort()
    }
  }

  // MARK: Fixtures

  /// The tables, columns, indexes, constraints and triggers of a store.
  private func schema(_ url: URL) throws -> [String] {
    let queries = [
      """
      SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(column_default, '') \
      FROM information_schema.columns WHERE table_schema = current_schema()
      """, "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()",
      """
      SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
      WHERE connamespace = current_schema()::regnamespace
      """,
      """
      SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal \
      AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
      """, "SELECT proname::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace",
    ]
    let schema = try ForeignSQL.run(["SELECT current_schema()"], at: url)[0][0]
    return try queries.flatMap { try ForeignSQL.run([$0], at: url).map { $0[0].replacing(schema, with: "store") } }
      // An entity keeps its number online, so that no row changes.
      .map {
        $0.replacing(/persist_parked_\w+/, with: "parked").replacing(/\.entity bigint \d+/, with: ".entity bigint")
          .replacing(/\w+_pkey/, with: "key")
      }.sorted()
  }

  private func expectIntact(_ url: URL) throws {
    var problems: [StoreProblem] = []
    try StoreLocation.postgreSQL(url.absoluteString).check { problems.append($0) }
    #expect(problems.isEmpty, "\(problems)")
  }
}
