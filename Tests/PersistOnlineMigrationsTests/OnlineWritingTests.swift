import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

@Suite("Writing while a store serves two models", .needsServer)
struct OnlineWritingTests {
  private static func item(_ attributes: [AttributeDescription], unique: [[String]] = []) -> EntityDescription {
    EntityDescription("Item", attributes: attributes, uniquenessConstraints: unique)
  }

  private func versions(
    _ old: [AttributeDescription], _ new: [AttributeDescription], unique: [[String]] = []
  ) throws -> (old: ModelVersion, new: ModelVersion) {
    (try OnlineShop.version("1", Self.item(old)), try OnlineShop.version("2", Self.item(new, unique: unique)))
  }

  private func withExpanded(
    _ versions: (old: ModelVersion, new: ModelVersion), options: StoreOptions = StoreOptions(),
    _ body: (URL, OnlineMigration, _ first: OnlineProgram, _ second: OnlineProgram) throws -> Void
  ) throws {
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.old, url, options: options)
      try first.insert("Item", ["name": "Tea"])
      try first.save()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.new)
      try migration.backfill()
      let second = try OnlineProgram(versions.new, url)
      try body(url, migration, first, second)
      try first.close()
      try second.close()
    }
  }

  private func renamed() throws -> (old: ModelVersion, new: ModelVersion) {
    try versions(
      [AttributeDescription("name", .string)],
      [AttributeDescription("title", .string, renamingIdentifier: "name")])
  }

  @Test("Programs with different models notice conflicts with each other")
  func conflicts() throws {
    try withExpanded(renamed()) { _, _, first, second in
      let old = try #require(first.all("Item").first)
      let new = try #require(second.all("Item").first)
      _ = (old["name"], new["title"])
      new["title"] = "Green tea"
      try second.save()
      old["name"] = "Black tea"
      let error = #expect(throws: PersistenceError.self) { try first.save() }
      #expect(error?.code == .mergeConflict, "\(error as Any)")
      first.context.rollback()
      try #expect(first.values("Item", "name") == ["Green tea"])
    }
  }

  @Test("Statements by hand can use the names of either model")
  func plainSQL() throws {
    try withExpanded(renamed()) { url, _, first, second in
      try ForeignSQL.run("INSERT INTO item (id, entity, name) VALUES (1001, 1, 'Milk')", at: url)
      try ForeignSQL.run("INSERT INTO item (id, entity, title) VALUES (1002, 1, 'Juice')", at: url)
      try ForeignSQL.run("UPDATE item SET title = 'Whole milk' WHERE name = 'Milk'", at: url)
      try ForeignSQL.run("UPDATE item SET name = 'Orange juice' WHERE title = 'Juice'", at: url)
      try ForeignSQL.run("UPDATE item SET name = NULL WHERE name = 'Tea'", at: url)
      let all = ["Orange juice", "Whole milk", "nil"]
      try #expect(first.values("Item", "name") == all)
      try #expect(second.values("Item", "title") == all)
    }
  }

  @Test("Batch inserts, updates and deletes of both models arrive in the other")
  func batches() throws {
    try withExpanded(renamed()) { _, _, first, second in
      _ = try second.context.execute(BatchInsertRequest("Item", [["title": "Milk"], ["title": "Juice"]]))
      _ = try first.context.execute(BatchInsertRequest("Item", (0..<3000).map { ["name": "Item \($0)"] }))
      try #expect(first.values("Item", "name").count == 3003)
      try #expect(second.values("Item", "title") == first.values("Item", "name"))
      _ = try second.context.execute(
        BatchUpdateRequest("Item", where: FetchPredicate("title == 'Milk'"), set: ["title": .value("Cream")]))
      _ = try first.context.execute(
        BatchUpdateRequest("Item", where: FetchPredicate("name == 'Juice'"), set: ["name": .value("Water")]))
      _ = try second.context.execute(BatchDeleteRequest("Item", where: FetchPredicate("title BEGINSWITH 'Item'")))
      try #expect(first.values("Item", "name") == ["Cream", "Tea", "Water"])
      try #expect(second.values("Item", "title") == ["Cream", "Tea", "Water"])
    }
  }

  @Test("Derived attributes follow the values that programs with either model write")
  func derivedAttributes() throws {
    let label = AttributeDescription("label", .string, derivation: "uppercase:(name)")
    let newLabel = AttributeDescription("label", .string, derivation: "uppercase:(title)")
    let versions = try versions(
      [AttributeDescription("name", .string), label],
      [AttributeDescription("title", .string, renamingIdentifier: "name"), newLabel])
    let plan = try OnlineShop.planOnly(versions.old, versions.new)
    // The derivation names the renamed attribute; nothing else differs.
    guard plan.isPossible else {
      #expect(plan.refusals.map(\.property) == ["label"])
      return
    }
    try withExpanded(versions) { url, migration, first, second in
      let new = try #require(second.all("Item").first)
      new["title"] = "Milk"
      try second.save()
      try #expect(first.values("Item", "label") == ["MILK"])
      let old = try #require(first.all("Item").first)
      old["name"] = "Juice"
      try first.save()
      try #expect(second.values("Item", "label") == ["JUICE"])
      try first.close()
      try migration.contract()
      try #expect(second.values("Item", "label") == ["JUICE"])
    }
  }

  @Test("Unchanged derived attributes are maintained for programs with both models")
  func sharedDerivedAttributes() throws {
    let shared = [
      AttributeDescription("text", .string), AttributeDescription("label", .string, derivation: "lowercase:(text)"),
    ]
    let versions = try versions(
      [AttributeDescription("name", .string)] + shared,
      [AttributeDescription("title", .string, renamingIdentifier: "name")] + shared)
    try withExpanded(versions) { _, migration, first, second in
      try second.insert("Item", ["title": "Milk", "text": "WHITE"])
      try second.save()
      try first.insert("Item", ["name": "Water", "text": "CLEAR"])
      try first.save()
      try #expect(first.values("Item", "label") == ["clear", "nil", "white"])
      try #expect(second.values("Item", "label") == ["clear", "nil", "white"])
      try first.close()
      try migration.contract()
      try second.insert("Item", ["title": "Juice", "text": "RED"])
      try second.save()
      try #expect(second.values("Item", "label") == ["clear", "nil", "red", "white"])
    }
  }

  @Test("A new uniqueness constraint names the duplicates that prevent it, and applies to both models afterward")
  func uniqueness() throws {
    let versions = try versions(
      [AttributeDescription("name", .string)], [AttributeDescription("name", .string)], unique: [["name"]])
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.old, url)
      try first.insert("Item", ["name": "Tea"])
      let second = try first.insert("Item", ["name": "Tea"])
      try first.save()
      let migration = OnlineMigration(storeAt: url)
      #expect(throws: PersistenceError.self) { try migration.expand(to: versions.new) }
      try #expect(migration.status().state == .none)
      second["name"] = "Milk"
      try first.save()
      try migration.expand(to: versions.new)
      // A duplicate of the time before the index.
      second["name"] = "Tea"
      try first.save()
      let error = #expect(throws: PersistenceError.self) { try migration.backfill() }
      #expect(error?.code == .constraintConflict, "\(error as Any)")
      second["name"] = "Juice"
      try first.save()
      try #expect(migration.backfill())
      second["name"] = "Tea"
      #expect(throws: PersistenceError.self) { try first.save() }
      try first.close()
    }
  }

  @Test("Differences that can't be served are refused with their place and reason, and nothing is written")
  func refusals() throws {
    func refused(_ old: [EntityDescription], _ new: [EntityDescription]) throws -> [String] {
      func version(_ name: String, _ entities: [EntityDescription]) throws -> ModelVersion {
        ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
      }
      let versions = (try version("1", old), try version("2", new))
      return try OnlineShop.withValue { url in
        try OnlineProgram(versions.0, url).close()
        let before = try StoreSnapshot(url)
        let migration = OnlineMigration(storeAt: url)
        let plan = try migration.plan(to: versions.1)
        #expect(throws: PersistenceError.self) { try migration.expand(to: versions.1) }
        try #expect(StoreSnapshot(url) == before)
        #expect(plan.phases.isEmpty && plan.description.contains("refused"))
        return plan.refusals.map { [$0.entity, $0.property].compactMap { $0 }.joined(separator: ".") }
      }
    }
    let item = Self.item([AttributeDescription("name", .string)])
    try #expect(refused([item], [Self.item([AttributeDescription("name", .int64)])]) == ["Item.name"])
    let media = EntityDescription("Media", attributes: [AttributeDescription("code", .string)])
    try #expect(
      refused([item, media], [media, EntityDescription("Item", parent: "Media", attributes: item.attributes)])
        .contains("Item"))
    try #expect(
      refused([item], [Self.item([AttributeDescription("name", .string, isOptional: false)])]) == ["Item.name"])
    try #expect(
      refused([item], [Self.item([item.attributes[0], AttributeDescription("size", .int64, isOptional: false)])])
        == ["Item.size"])
    // The way back matters as much.
    try #expect(
      refused([Self.item([item.attributes[0], AttributeDescription("size", .int64, isOptional: false)])], [item])
        == ["Item.size"])
  }

  @Test("A name can have one meaning in the old model and another in the new one")
  func reusedName() throws {
    let versions = try versions(
      [AttributeDescription("name", .string), AttributeDescription("code", .string)],
      [
        AttributeDescription("code", .string, renamingIdentifier: "name"),
        AttributeDescription("name", .string, isOptional: false, default: .string("none"), renamingIdentifier: "other"),
      ])
    try withExpanded(versions) { _, _, first, second in
      try #expect(second.values("Item", "code") == ["Tea"])
      try #expect(second.values("Item", "name") == ["none"])
      let item = try #require(second.all("Item").first)
      (item["code"], item["name"]) = ("Milk", "white")
      try second.save()
      try #expect(first.values("Item", "name") == ["Milk"])
      try #expect(first.values("Item", "code") == ["nil"])
      try #require(first.all("Item").first)["code"] = "3"
      try first.save()
      try #expect(second.values("Item", "name") == ["white"])
    }
  }

  @Test("A history isn't begun while a store serves two models")
  func history() throws {
    let versions = try renamed()
    try withExpanded(versions) { url, _, _, _ in
      var options = StoreOptions()
      options.tracksHistory = true
      for version in [versions.old, versions.new] {
        let error = #expect(throws: PersistenceError.self) { try OnlineProgram(version, url, options: options) }
        #expect(error?.code == .invalidRequest)
      }
    }
  }

  @Test("An expanded store is deleted with everything that belongs to both models")
  func deletion() throws {
    try withExpanded((try OnlineShop.old(), try OnlineShop.new()), insertingInto: "Item") { url in
      try PersistentStoreCoordinator(model: try OnlineShop.old().model).destroyPersistentStore(at: url)
      let left = try ForeignSQL.run(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace", at: url)
      #expect(left.isEmpty, "\(left)")
    }
  }

  private func withExpanded(
    _ versions: (old: ModelVersion, new: ModelVersion), insertingInto entity: String, _ body: (URL) throws -> Void
  ) throws {
    try OnlineShop.withStore { url in
      try OnlineProgram(versions.old, url).close()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.new)
      try migration.backfill()
      try body(url)
    }
  }
}

extension OnlineShop {
  static func withValue<T>(_ body: (URL) throws -> T) throws -> T {
    try TestServer.withSchema { text in try body(#require(URL(string: text))) }
  }

  /// The plan for an empty store.
  static func planOnly(_ old: ModelVersion, _ new: ModelVersion) throws -> OnlinePlan {
    try withValue { url in
      try OnlineProgram(old, url).close()
      return try OnlineMigration(storeAt: url).plan(to: new)
    }
  }
}
