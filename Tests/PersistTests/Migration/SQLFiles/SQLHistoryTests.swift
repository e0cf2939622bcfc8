import Foundation
@testable import PersistCore
@testable import PersistSQLMigrations
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistTools

@Suite("SQL files: databases of other tools")
struct SQLHistoryTests {
  private static let files = [
    "20240101000000_create.sql": "CREATE TABLE item (id INTEGER PRIMARY KEY);",
    "20240102000000_price.sql": "ALTER TABLE item ADD COLUMN price REAL;",
    "20240103000000_note.sql": "ALTER TABLE item ADD COLUMN note TEXT;",
  ]
  private static let made = "CREATE TABLE item (id INTEGER PRIMARY KEY); ALTER TABLE item ADD COLUMN price REAL;"

  @Test("Files run by another tool aren't run again, and the tool sees Persist's runs, in its own format", arguments: [
    // Rails
    (
      "CREATE TABLE schema_migrations (version varchar NOT NULL PRIMARY KEY);"
        + "INSERT INTO schema_migrations VALUES ('20240101000000'), ('20240102000000')",
      "SELECT version, typeof(version) FROM schema_migrations ORDER BY 1 DESC LIMIT 1", ["20240103000000", "text"]
    ),
    // dbmate
    (
      "CREATE TABLE schema_migrations (version varchar(128) primary key);"
        + "INSERT INTO schema_migrations VALUES ('20240101000000'), ('20240102000000')",
      "SELECT version, typeof(version) FROM schema_migrations ORDER BY 1 DESC LIMIT 1", ["20240103000000", "text"]
    ),
    // golang-migrate
    (
      "CREATE TABLE schema_migrations (version uint64,dirty bool);"
        + "CREATE UNIQUE INDEX version_unique ON schema_migrations (version);"
        + "INSERT INTO schema_migrations VALUES (20240102000000, 0)",
      "SELECT version, dirty, count(*) FROM schema_migrations", ["20240103000000", "0", "1"]
    ),
    // FMDBMigrationManager
    (
      "CREATE TABLE schema_migrations (version INTEGER UNIQUE NOT NULL);"
        + "INSERT INTO schema_migrations VALUES (20240101000000), (20240102000000)",
      "SELECT version, typeof(version) FROM schema_migrations ORDER BY 1 DESC LIMIT 1", ["20240103000000", "integer"]
    ),
    // Ecto
    (
      "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, inserted_at TEXT NOT NULL);"
        + "INSERT INTO schema_migrations VALUES (20240101000000, 'then'), (20240102000000, 'then')",
      "SELECT version, inserted_at > '2024' FROM schema_migrations ORDER BY 1 DESC LIMIT 1", ["20240103000000", "1"]
    ),
    // Diesel
    (
      "CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL,"
        + " run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);"
        + "INSERT INTO __diesel_schema_migrations (version) VALUES ('20240101000000'), ('20240102000000')",
      "SELECT version, run_on > '2024' FROM __diesel_schema_migrations ORDER BY 1 DESC LIMIT 1",
      ["20240103000000", "1"]
    ),
    // GRDB
    (
      "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);"
        + "INSERT INTO grdb_migrations VALUES ('create'), ('price')",
      "SELECT identifier FROM grdb_migrations WHERE rowid = 3", ["note"]
    ),
  ])
  func adopted(_ history: String, query: String, newest: [String]) throws {
    try SQLFolder.with(Self.files) { folder in
      try folder.run("\(Self.made) \(history)")
      let status = try folder.migrator().status(ofStoreAt: folder.url)
      #expect(status.entries.map(\.state) == [.applied, .applied, .pending])
      let report = try folder.migrator().migrate(storeAt: folder.url)
      #expect(report.applied.map(\.name) == ["note"])
      try #expect(folder.rows(query) == [newest])
      try #expect(folder.rows("SELECT count(*) FROM pragma_table_info('item')") == [["3"]])
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.isEmpty)
      let tables = try folder.tables().filter { $0 != "item" && $0 != "persist_sql_migrations" }
      #expect(tables.count == 1)

      // From now on edits are detected, also in files that the other tool ran.
      try folder.write("CREATE TABLE other (x)", to: "20240101000000_create.sql")
      try #expect(folder.migrator().status(ofStoreAt: folder.url).entries.first?.state == .changed)
    }
  }

  @Test("With nothing to run, the files that another tool ran are recorded once")
  func noted() throws {
    try SQLFolder.with(Self.files) { folder in
      try folder.run(
        Self.made + "ALTER TABLE item ADD COLUMN note TEXT; CREATE TABLE schema_migrations (version TEXT PRIMARY KEY);"
          + "INSERT INTO schema_migrations VALUES ('20240101000000'), ('20240102000000'), ('20240103000000')")
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.isEmpty)
      try #expect(folder.rows("SELECT count(*), count(applied_at) FROM persist_sql_migrations") == [["3", "0"]])
      let before = try Data(contentsOf: folder.url)
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(Data(contentsOf: folder.url) == before)
    }
  }

  @Test("If another tool stopped halfway, nothing runs")
  func dirty() throws {
    try SQLFolder.with(Self.files) { folder in
      try folder.run(
        Self.made + "CREATE TABLE schema_migrations (version uint64,dirty bool);"
          + "INSERT INTO schema_migrations VALUES (20240102000000, 1)")
      let error = #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.url) }
      #expect(error?.code == .migrationUnfinished)
      #expect(error?.message.contains("20240102000000") == true)
    }
  }

  @Test("Leading zeros don't make another version")
  func zeros() throws {
    try SQLFolder.with(["001_a.sql": "CREATE TABLE a (x)", "002_b.sql": "CREATE TABLE b (x)"]) { folder in
      try folder.run(
        "CREATE TABLE a (x); CREATE TABLE schema_migrations (version varchar NOT NULL PRIMARY KEY);"
          + "INSERT INTO schema_migrations VALUES ('1')")
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.map(\.version) == [2])
      try #expect(folder.rows("SELECT version FROM schema_migrations") == [["1"], ["002"]])
    }
  }

  @Test("A table that can't be the history is rejected before anything runs", arguments: [
    "CREATE TABLE schema_migrations (migration TEXT)",
    "CREATE TABLE schema_migrations (version INTEGER, author TEXT NOT NULL)",
  ])
  func strange(_ table: String) throws {
    try SQLFolder.with(Self.files) { folder in
      try folder.run(table)
      let error = #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.url) }
      #expect(error?.code == .invalidRequest)
      try #expect(folder.tables() == ["schema_migrations"])
      var other = try folder.migrator()
      other.table = "versions \"of\" mine"
      try #expect(other.migrate(storeAt: folder.url).applied.count == 3)
      try #expect(other.status(ofStoreAt: folder.url).table == "versions \"of\" mine")
    }
  }

  @Test("A Core Data store can use SQL files besides its model, and remains one", .needsSharedData)
  func coreData() throws {
    try withCopy(ofStore: "posts/CoreDataMigration_Example_1.sqlite") { url in
      let before = try StoreContents(readingStoreAt: url, registry: nil).model.fingerprints
      try SQLMigrator([SQLMigration(1, "notes", sql: "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('a')")])
        .migrate(storeAt: url)
      try #expect(StoreContents(readingStoreAt: url, registry: nil).model.fingerprints == before)
      var problems: [String] = []
      try StoreCheck.check(storeAt: url) { problems.append($0.detail) }
      #expect(problems == [])
    }
  }

  @Test("An application's database keeps its settings: the same journal mode, no recursive triggers")
  func settings() throws {
    try SQLFolder.with(["1_a.sql": "CREATE TABLE a (x)"]) { folder in
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("PRAGMA journal_mode") == [["delete"]])
      try #expect(folder.rows("PRAGMA auto_vacuum") == [["0"]])
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.deletingLastPathComponent().path)
      #expect(files.sorted() == ["App.db", "sql"])
    }
  }
}
