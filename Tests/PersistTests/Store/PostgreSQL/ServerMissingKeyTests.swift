#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Tables on a server without their keys", .needsServer)
  struct ServerMissingKeyTests {
    private static func shop() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item", attributes: [.init("name", .string)],
            relationships: [.init("tags", toMany: "Tag", inverse: "items")], uniquenessConstraints: [["name"]]),
          EntityDescription("Tag", relationships: [.init("items", toMany: "Item", inverse: "tags")]),
        ]))
    }

    /// Runs `body` with a store of three items, in which others have run statements.
    private func withStore(_ sql: [String], _ body: (URL, ManagedObjectModel) throws -> Void) throws {
      let model = try Self.shop()
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for number in 0..<3 { try context.create("Item")["name"] = "item \(number)" }
        try context.save()
        try coordinator.remove(store)
        try ForeignSQL.run(sql, at: url)
        try body(url, model)
      }
    }

    private func problems(_ url: URL) throws -> [StoreProblem] {
      var problems: [StoreProblem] = []
      try StoreLocation(url).check(registry: nil) { problems.append($0) }
      return problems
    }

    @Test("A sound store has all keys")
    func sound() throws {
      try withStore([]) { url, _ in try #expect(problems(url) == []) }
    }

    @Test(
      "A table without its primary key is found by check and refused for writing, and can be read",
      arguments: ["tag", "persist_entity", "persist_store"])
    func primaryKey(table: String) throws {
      try withStore(["ALTER TABLE \(table) DROP CONSTRAINT \(table)_pkey CASCADE"]) { url, model in
        let found = try problems(url).filter { $0.kind == .missingKey }
        #expect(found.count == 1 && found.first?.detail.contains("'\(table)'") == true)
        let error = #expect(throws: PersistenceError.self) {
          try PersistentStoreCoordinator(model: model).addStore(at: url)
        }
        #expect(error?.code == .storeDamaged && error?.message == found.first?.detail)
        let reading = PersistentStoreCoordinator(model: model)
        let store = try reading.addStore(at: url, options: StoreOptions(isReadOnly: true))
        try #expect(ManagedObjectContext(reading).count(for: FetchRequest("Item")) == 3)
        try reading.remove(store)
      }
    }

    @Test("A missing unique index is found by check, and created again unless values prevent it")
    func uniqueIndex() throws {
      try withStore(["DROP INDEX item_name_unique"]) { url, model in
        try #expect(problems(url).map(\.kind) == [.missingIndex])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.remove(coordinator.addStore(at: url))
        try #expect(problems(url) == [])
      }
      try withStore(["DROP INDEX item_name_unique", "UPDATE item SET name = 'same'"]) { url, model in
        let error = #expect(throws: PersistenceError.self) {
          try PersistentStoreCoordinator(model: model).addStore(at: url)
        }
        #expect(error?.code == .storeDamaged && error?.place.entity == "Item")
      }
    }
  }
#endif
