import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistSQLMigrations

@Suite("Reverting SQL migrations, and baselines")
struct SQLRollbackTests {
  private let files = [
    "1_a.sql": "CREATE TABLE a (x);\n-- down\nDROP TABLE a;",
    "2_b.sql": "CREATE TABLE b (x);", "2_b.down.sql": "DROP TABLE b;",
    "0003_c/up.sql": "CREATE TABLE c (x);", "0003_c/down.sql": "DROP TABLE c;",
    "4_d.up.sql": "CREATE TABLE d (x);", "4_d.down.sql": "DROP TABLE d;",
    "5_e.sql": "-- migrate:up\nCREATE TABLE e (x);\n-- migrate:down\nDROP TABLE e;",
  ]

  @Test("The newest migration goes first, each way back is found, and everything can be migrated again")
  func allForms() throws {
    try SQLFolder.with(files) { folder in
      let migrator = try folder.migrator()
      #expect(migrator.migrations.map(\.canBeReverted) == [true, true, true, true, true])
      try migrator.migrate(storeAt: folder.url)
      let one = try migrator.rollBack(storeAt: folder.url)
      #expect(one.reverted.map(\.version) == [5])
      #expect(one.from == 5 && one.to == 4)
      try #expect(folder.tables().filter { $0.count == 1 } == ["a", "b", "c", "d"])
      try #expect(migrator.status(ofStoreAt: folder.url).pending.map(\.version) == [5])

      let most = try migrator.rollBack(storeAt: folder.url, to: 1)
      #expect(most.reverted.map(\.version) == [4, 3, 2])
      try #expect(folder.tables().filter { $0.count == 1 } == ["a"])
      try #expect(migrator.rollBack(storeAt: folder.url, to: 0).to == nil)
      try #expect(migrator.rollBack(storeAt: folder.url).reverted == [])
      try #expect(migrator.migrate(storeAt: folder.url).applied.map(\.version) == [1, 2, 3, 4, 5])
      try #expect(folder.tables().filter { $0.count == 1 } == ["a", "b", "c", "d", "e"])
      try folder.expectWhole()
    }
  }

  @Test("If one of several has no way back, nothing is reverted")
  func noWayBack() throws {
    var files = files
    files["2_b.down.sql"] = "-- nothing"
    try SQLFolder.with(files) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      let tables = try folder.tables()
      let error = #expect(throws: PersistenceError.self) { try migrator.rollBack(storeAt: folder.url, to: 1) }
      #expect(error?.code == .invalidRequest)
      #expect(error?.place.file?.lastPathComponent == "2_b.sql")
      try #expect(folder.tables() == tables)
      try #expect(migrator.rollBack(storeAt: folder.url, to: 2).reverted.count == 3)
    }
  }

  @Test("A version that doesn't exist reverts nothing, unless a migration without a file was applied under it")
  func unknownVersion() throws {
    let files = ["1_a.sql": "CREATE TABLE a (x);", "20_b.sql": "CREATE TABLE b (x);\n-- down\nDROP TABLE b;"]
    try SQLFolder.with(files) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      let error = #expect(throws: PersistenceError.self) { try migrator.rollBack(storeAt: folder.url, to: 9) }
      #expect(error?.code == .invalidRequest)
      try #expect(folder.tables().filter { $0.count == 1 } == ["a", "b"])
      try FileManager.default.removeItem(at: folder.folder.appendingPathComponent("1_a.sql"))
      try #expect(folder.migrator().rollBack(storeAt: folder.url, to: 1).reverted.map(\.version) == [20])
      try #expect(folder.tables().filter { $0.count == 1 } == ["a"])
    }
  }

  @Test(
    "Nothing is reverted below a version that a newer application applied",
    arguments: ["version INTEGER PRIMARY KEY", "version uint64, dirty bool DEFAULT 0"])
  func newerVersion(columns: String) throws {
    try SQLFolder.with(files) { folder in
      try folder.run("CREATE TABLE schema_migrations (\(columns))")
      var migrator = try folder.migrator()
      migrator.allowsUnknownVersions = true
      try migrator.migrate(storeAt: folder.url)
      try folder.run(
        columns.contains("dirty")
          ? "UPDATE schema_migrations SET version = 7" : "INSERT INTO schema_migrations (version) VALUES (7)")
      let records = try folder.rows("SELECT version FROM schema_migrations ORDER BY 1")
      for version in [nil, 3] as [Int64?] {
        let error = #expect(throws: PersistenceError.self) {
          try migrator.rollBack(storeAt: folder.url, to: version)
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("version 7") == true)
      }
      try #expect(folder.tables().filter { $0.count == 1 } == ["a", "b", "c", "d", "e"])
      try #expect(folder.rows("SELECT version FROM schema_migrations ORDER BY 1") == records)
    }
  }

  @Test("A reversal that fails is rolled back with its record, and names the file and line")
  func failure() throws {
    var files = files
    files["4_d.down.sql"] = "DROP TABLE d;\nDROP TABLE missing;"
    try SQLFolder.with(files) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      let error = #expect(throws: PersistenceError.self) { try migrator.rollBack(storeAt: folder.url, to: 0) }
      #expect(error?.code == .migrationFailed)
      #expect(error?.place.file?.lastPathComponent == "4_d.down.sql")
      #expect(error?.place.line == 2)
      #expect(error?.message.contains("Reverted before it: 5.") == true)
      try #expect(folder.tables().filter { $0.count == 1 } == ["a", "b", "c", "d"])
      try #expect(migrator.status(ofStoreAt: folder.url).currentVersion == 4)
    }
  }

  @Test("A reversal that leaves dangling rows is refused")
  func foreignKeys() throws {
    try SQLFolder.with([
      "1_a.sql": "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a);",
      "2_b.sql": "INSERT INTO a VALUES (1);\n-- down\nDELETE FROM a;",
    ]) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      try folder.run("INSERT INTO b VALUES (1)")
      #expect(throws: PersistenceError.self) { try migrator.rollBack(storeAt: folder.url) }
      try #expect(folder.rows("SELECT count(*) FROM a") == [["1"]])
    }
  }

  @Test(
    "Tables of other tools lose the record too",
    arguments: [
      ("CREATE TABLE schema_migrations (version VARCHAR PRIMARY KEY)", "INSERT INTO schema_migrations VALUES ('001')"),
      ("CREATE TABLE schema_migrations (version uint64, dirty bool)", "INSERT INTO schema_migrations VALUES (1, 0)"),
      ("CREATE TABLE grdb_migrations (identifier TEXT PRIMARY KEY)", "INSERT INTO grdb_migrations VALUES ('a')"),
    ])
  func otherTools(table: String, row: String) throws {
    try SQLFolder.with([
      "001_a.sql": "CREATE TABLE a (x);\n-- down\nDROP TABLE a;", "002_b.sql": "CREATE TABLE b (x);\n-- down\nDROP TABLE b;",
    ]) { folder in
      try folder.run("\(table); \(row); CREATE TABLE a (x);")
      let migrator = try folder.migrator()
      try #expect(migrator.migrate(storeAt: folder.url).applied.map(\.version) == [2])
      try #expect(migrator.rollBack(storeAt: folder.url).reverted.map(\.version) == [2])
      try #expect(migrator.status(ofStoreAt: folder.url).pending.map(\.version) == [2])
      try #expect(migrator.rollBack(storeAt: folder.url).reverted.map(\.version) == [1])
      try #expect(migrator.status(ofStoreAt: folder.url).applied == [])
    }
  }

  @Test("A baseline records versions without running them, and only pending ones")
  func baseline() throws {
    try SQLFolder.with(files) { folder in
      try folder.run("CREATE TABLE a (x); CREATE TABLE b (x);")
      let migrator = try folder.migrator()
      #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: folder.url) }
      #expect(throws: PersistenceError.self) { try migrator.stamp(storeAt: folder.url, to: 9) }
      try #expect(migrator.stamp(storeAt: folder.url, to: 2).map(\.version) == [1, 2])
      try #expect(migrator.stamp(storeAt: folder.url, to: 2).isEmpty)
      try #expect(migrator.migrate(storeAt: folder.url).applied.map(\.version) == [3, 4, 5])
      let entries = try migrator.status(ofStoreAt: folder.url).entries
      #expect(entries.map { $0.appliedAt == nil } == [true, true, false, false, false])
    }
  }
}
