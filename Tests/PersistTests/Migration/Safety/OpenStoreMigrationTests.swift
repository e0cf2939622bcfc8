import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration of an open store", .aboutFiles("the connection by which a store's model was identified"))
struct OpenStoreMigrationTests {
  private static func library(_ attributes: String...) throws -> ManagedObjectModel {
    try model(
      EntityDescription("Book", attributes: attributes.map { .init($0, .string) }),
      EntityDescription("Note", attributes: [.init("text", .string)]))
  }

  private let old: ManagedObjectModel
  private let new: ManagedObjectModel

  init() throws { (old, new) = (try Self.library("title"), try Self.library("title", "subtitle")) }

  private func make(_ url: URL) throws {
    let coordinator = PersistentStoreCoordinator(model: old)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try context.create("Book")["title"] = "Emma"
    try context.save()
    try coordinator.remove(store)
  }

  /// The store as `addStore` hands it to a migrator.
  private func withDifference(_ url: URL, _ body: (StoreDifference, any UnmigratedStore) throws -> Void) throws {
    let location = StoreLocation(url)
    let opening = try location.engine.openStore(
      at: location, ifOf: new, registry: nil, options: .automaticMigration)
    guard case .differs(let difference) = opening, let opened = difference.opened else {
      Issue.record("The store has another model, and is open.")
      return
    }
    defer { opened.close() }
    try body(difference, opened)
  }

  private func catalog(_ difference: StoreDifference) throws -> StoreCatalog { try #require(difference.store).catalog }

  @Test(
    "Another program's change of tables or metadata since the model was identified ends the use of the open store",
    arguments: [
      "ALTER TABLE ZNOTE ADD COLUMN MINE", "UPDATE Z_METADATA SET Z_UUID = 'x'", "UPDATE Z_PRIMARYKEY SET Z_MAX = 99",
    ])
  func changed(statement: String) throws {
    try withTemporaryStore { url in
      try make(url)
      try withDifference(url) { difference, opened in
        let catalog = try catalog(difference)
        try MadeStore.run(statement, at: url)
        let result: Void? = try opened.migrate(catalog) { connection in
          try connection.execute("DELETE FROM ZBOOK")
        }
        #expect(result == nil)
        #expect(try opened.inspect(catalog) { try $0.count(.rows("ZNOTE", .all)) } == nil)
      }
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZBOOK", at: url) == [["1"]])
    }
  }

  @Test("The number of the state tells in the transaction whether others wrote since rows were inspected")
  func changedRows() throws {
    try withTemporaryStore { url in
      try make(url)
      try withDifference(url) { difference, opened in
        let catalog = try catalog(difference)
        func inspected() throws -> Int64? {
          try opened.inspect(catalog) { inspector in
            _ = try inspector.count(.rows("ZNOTE", .all))
            return inspector.stateNumber
          } ?? nil
        }
        func present() throws -> Int64? { try opened.migrate(catalog) { $0.stateNumber } ?? nil }
        let state = try #require(try inspected())
        #expect(try present() == state)
        try MadeStore.run("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) VALUES (7, 2, 1)", at: url)
        #expect(try present() != state)
        #expect(try inspected() == present())
      }
    }
  }

  @Test("What fails because another program changed the store is no error")
  func failure() throws {
    try withTemporaryStore { url in
      try make(url)
      try withDifference(url) { difference, opened in
        let catalog = try catalog(difference)
        try MadeStore.run("DROP TABLE ZNOTE", at: url)
        #expect(try opened.inspect(catalog) { try $0.count(.rows("ZNOTE", .all)) } == nil)
      }
    }
  }

  @Test("A store that another process migrates beside it, or did when it was killed, isn't touched")
  func workspace() throws {
    try withTemporaryStore { url in
      try make(url)
      let folder = WorkingFolder.url(besideStoreAt: SQLiteFileName.resolved(url))
      try withDifference(url) { difference, opened in
        let catalog = try catalog(difference)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try opened.migrate(catalog) { connection in try connection.execute("DELETE FROM ZBOOK") } == nil)
      }
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZBOOK", at: url) == [["1"]])
      let coordinator = PersistentStoreCoordinator(model: new)
      try coordinator.remove(coordinator.addStore(at: url, options: .automaticMigration))
      #expect(!FileManager.default.fileExists(atPath: folder.path))
      try MadeStore.expectNewStore(of: new, at: url)
    }
  }

  @Test("A file that was replaced since the model was identified isn't migrated by its old connection")
  func replaced() throws {
    try withTemporaryStore { url in
      try make(url)
      let other = url.deletingLastPathComponent().appendingPathComponent("Other.sqlite")
      try FileManager.default.copyItem(at: url, to: other)
      try withDifference(url) { difference, opened in
        let catalog = try catalog(difference)
        try FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: other, to: url)
        #expect(try opened.migrate(catalog) { connection in try connection.execute("DELETE FROM ZBOOK") } == nil)
      }
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZBOOK", at: url) == [["1"]])
    }
  }

  @Test("After a migration, triggers fire and pragmas of the options apply to the connection that migrated")
  func settings() throws {
    try withTemporaryStore { url in
      try make(url)
      try MadeStore.run(
        "CREATE TABLE COUNTED (N)",
        "CREATE TRIGGER COUNTING AFTER INSERT ON ZNOTE BEGIN INSERT INTO COUNTED VALUES (NEW.Z_PK); END", at: url)
      var options = StoreOptions.automaticMigration
      options.pragmas = ["foreign_keys": "ON", "synchronous": "EXTRA"]
      let coordinator = PersistentStoreCoordinator(model: new)
      let info = try coordinator.addStore(at: url, options: options)
      let context = ManagedObjectContext(coordinator)
      try context.create("Note")["text"] = "a"
      try context.save()
      let store = try #require(coordinator.openStores.first as? SQLiteStore)
      let settings = try store.pool.withWriter { connection in
        try ["PRAGMA foreign_keys", "PRAGMA synchronous", "PRAGMA legacy_alter_table"].map { (sql: SQLText) in
          try connection.first(sql) { $0.integer(0) }
        }
      }
      #expect(settings == [1, 3, 0])
      try coordinator.remove(info)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM COUNTED", at: url) == [["1"]])
    }
  }

  @Test("The commit of a migration that removes no files is as durable as a save's", arguments: ["wal": 1, "delete": 2])
  func durability(journalMode: String, synchronous: Int64) throws {
    try withTemporaryStore { url in
      try make(url)
      try MadeStore.run("PRAGMA journal_mode = \(journalMode)", at: url)
      try withDifference(url) { difference, opened in
        let setting = try opened.migrate(catalog(difference)) { connection in
          try (connection as? SQLiteConnection)?.first("PRAGMA synchronous") { $0.integer(0) }
        }
        #expect(setting == synchronous)
      }
    }
  }

  @Test("A migration that fails within its transaction leaves the store unchanged and closed")
  func rolledBack() throws {
    try withTemporaryStore { url in
      try make(url)
      let before = try StoreSnapshot(url)
      let migrator = AutomaticMigrator { _ in false }
      let coordinator = PersistentStoreCoordinator(model: new)
      let error = persistError { _ = try coordinator.addStore(at: url, options: StoreOptions(migrator: migrator)) }
      #expect(error?.code == .migrationCancelled)
      try #expect(StoreLocation(url).engine.openCount(ofStoreAt: StoreLocation(url)) == 0)
      try #expect(StoreSnapshot(url) == before)
    }
  }
}
