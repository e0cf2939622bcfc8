import Foundation
@testable import PersistModel
@testable import PersistSQLMigrations
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist

@Suite("SQL files: migrating")
struct SQLMigratorTests {
  private static let shop = [
    "0001_create_items.sql": "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
    "0002_seed.sql": "INSERT INTO item (name) VALUES ('Tea');\nINSERT INTO item (name) VALUES ('Bread; sliced');",
    "0003_add_price.sql": "ALTER TABLE item ADD COLUMN price REAL",
  ]

  @Test("A new database runs every file in the order of versions, once")
  func all() throws {
    try SQLFolder.with(Self.shop) { shop in
      let report = try shop.migrator().migrate(storeAt: shop.url)
      #expect(report.from == nil)
      #expect(report.to == 3)
      #expect(report.applied.map(\.version) == [1, 2, 3])
      #expect(report.applied.map(\.name) == ["create_items", "seed", "add_price"])
      try #expect(shop.rows("SELECT name, price FROM item") == [["Tea", "nil"], ["Bread; sliced", "nil"]])
      try #expect(shop.rows("SELECT version FROM schema_migrations ORDER BY 1") == [["1"], ["2"], ["3"]])

      let again = try shop.migrator().migrate(storeAt: shop.url)
      #expect(again.applied.isEmpty)
      #expect(again.from == 3)
      #expect(again.to == 3)
      try #expect(shop.rows("SELECT count(*) FROM item") == [["2"]])
      try shop.expectWhole()
    }
  }

  @Test("With nothing to do not a byte is written")
  func nothingToDo() throws {
    try SQLFolder.with(Self.shop) { shop in
      try shop.migrator().migrate(storeAt: shop.url)
      let before = try Data(contentsOf: shop.url)
      try shop.migrator().migrate(storeAt: shop.url)
      try #expect(Data(contentsOf: shop.url) == before)
    }
  }

  @Test("Checking the status writes nothing, and doesn't create a missing file")
  func status() throws {
    try SQLFolder.with(Self.shop) { shop in
      let before = try FolderSnapshot(shop.url.deletingLastPathComponent())
      let migrator = try shop.migrator()
      try #expect(migrator.status(ofStoreAt: shop.url).pending.map(\.version) == [1, 2, 3])
      try #expect(FolderSnapshot(shop.url.deletingLastPathComponent()) == before)

      try migrator.migrate(storeAt: shop.url, to: 2)
      let between = try FolderSnapshot(shop.url.deletingLastPathComponent())
      let status = try migrator.status(ofStoreAt: shop.url)
      #expect(status.applied.map(\.version) == [1, 2])
      #expect(status.pending.map(\.name) == ["add_price"])
      #expect(status.currentVersion == 2)
      #expect(status.table == "schema_migrations")
      #expect(status.problems.isEmpty)
      let moment = try #require(status.applied.first?.appliedAt)
      #expect(abs(moment.timeIntervalSinceNow) < 600)
      try #expect(FolderSnapshot(shop.url.deletingLastPathComponent()) == between)
    }
  }

  @Test("A run stops at the requested version, and never goes back")
  func upTo() throws {
    try SQLFolder.with(Self.shop) { shop in
      let migrator = try shop.migrator()
      try #expect(migrator.migrate(storeAt: shop.url, to: 2).to == 2)
      try #expect(migrator.migrate(storeAt: shop.url, to: 1).to == 2)
      try #expect(migrator.migrate(storeAt: shop.url).applied.map(\.version) == [3])
      let error = #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: shop.url, to: 4) }
      #expect(error?.code == .invalidRequest)
      #expect(error?.fix?.contains("1, 2, 3") == true)
    }
  }

  @Test("Code runs in its order among the files, with values bound and rows read")
  func code() throws {
    try SQLFolder.with(Self.shop) { shop in
      let halve = SQLMigration(25, "upper") { database in
        try database.forEachRow("SELECT id, name FROM item ORDER BY id") { row in
          let name = row["name"].stringValue ?? ""
          let changed = try database.execute(
            "UPDATE item SET name = ? WHERE id = ?", .text(name.uppercased() + "'\""), row["id"])
          #expect(changed == 1)
        }
        try #expect(database.rows("SELECT count(*) FROM item WHERE id > ?", 1).map { $0[0] } == [1])
        try database.execute("CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO a VALUES (1), (2)")
      }
      try shop.write("DROP TABLE b", to: "0030_drop.sql")
      try shop.migrator(and: [halve]).migrate(storeAt: shop.url)
      try #expect(shop.rows("SELECT name FROM item") == [["TEA'\""], ["BREAD; SLICED'\""]])
      try #expect(shop.tables() == ["a", "item", "persist_sql_migrations", "schema_migrations"])
    }
  }

  @Test("An error thrown by code undoes its changes, including errors of its own types")
  func codeFails() throws {
    struct Refused: Error {}
    try SQLFolder.with(Self.shop) { shop in
      let failing = SQLMigration(4, "fail") { database in
        try database.execute("DELETE FROM item")
        throw Refused()
      }
      #expect(throws: Refused.self) { try shop.migrator(and: [failing]).migrate(storeAt: shop.url) }
      try #expect(shop.rows("SELECT count(*) FROM item") == [["2"]])
      try #expect(shop.migrator().status(ofStoreAt: shop.url).currentVersion == 3)
    }
  }

  @Test("Two migrations of one version are refused, with both names")
  func twice() throws {
    try SQLFolder.with(Self.shop) { shop in
      let error = #expect(throws: PersistenceError.self) {
        try shop.migrator(and: [SQLMigration(2, "other", sql: "SELECT 1")])
      }
      #expect(error?.message.contains("'0002_seed.sql'") == true)
      #expect(error?.message.contains("'2_other' in code") == true)
    }
  }

  @Test("A late file with a lower version runs, and is refused if the options say so")
  func outOfOrder() throws {
    try SQLFolder.with(Self.shop) { shop in
      try shop.migrator().migrate(storeAt: shop.url)
      try shop.write("CREATE TABLE late (x)", to: "00015_late.sql")
      try shop.write("CREATE TABLE later (x)", to: "0004_later.sql")
      try FileManager.default.removeItem(at: shop.folder.appendingPathComponent("00015_late.sql"))
      try shop.write("CREATE TABLE late (x)", to: "0000_late.sql")
      var migrator = try shop.migrator()
      try #expect(migrator.status(ofStoreAt: shop.url).pending.map(\.isOutOfOrder) == [true, false])

      migrator.refusesOutOfOrder = true
      let error = #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: shop.url) }
      #expect(error?.code == .migrationOutOfOrder)
      #expect(error?.place.file?.lastPathComponent == "0000_late.sql")
      try #expect(!shop.tables().contains("later"))

      migrator.refusesOutOfOrder = false
      try #expect(migrator.migrate(storeAt: shop.url).applied.map(\.version) == [0, 4])
      try #expect(migrator.status(ofStoreAt: shop.url).pending.isEmpty)
    }
  }

  @Test("A database of a newer application is refused, unless that is allowed")
  func newer() throws {
    try SQLFolder.with(Self.shop) { shop in
      try shop.migrator().migrate(storeAt: shop.url)
      try FileManager.default.removeItem(at: shop.folder.appendingPathComponent("0003_add_price.sql"))
      var migrator = try shop.migrator()
      let error = #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: shop.url) }
      #expect(error?.code == .incompatibleModel)
      #expect(error?.message.contains("version 3") == true)
      migrator.allowsUnknownVersions = true
      try #expect(migrator.migrate(storeAt: shop.url).applied.isEmpty)
    }
  }

  @Test("A missing file doesn't stop later ones; the status reports it")
  func gone() throws {
    try SQLFolder.with(Self.shop) { shop in
      try shop.migrator().migrate(storeAt: shop.url, to: 2)
      try FileManager.default.removeItem(at: shop.folder.appendingPathComponent("0001_create_items.sql"))
      let status = try shop.migrator().status(ofStoreAt: shop.url)
      #expect(status.entries.map(\.state) == [.unknown, .applied, .pending])
      try #expect(shop.migrator().migrate(storeAt: shop.url).applied.map(\.version) == [3])
    }
  }

  @Test("Progress never decreases, ends at one, and cancels when told to")
  func progress() throws {
    try SQLFolder.with(Self.shop) { shop in
      let seen = LockProtected<[Double]>([])
      var migrator = try shop.migrator()
      migrator.progress = { state in
        seen.withLock { $0.append(state.fraction) }
        return true
      }
      try migrator.migrate(storeAt: shop.url)
      let fractions = seen.withLock { $0 }
      #expect(fractions == fractions.sorted())
      #expect(fractions.last == 1)
      #expect(Set(fractions).count >= 4)

      try shop.write(
        """
        INSERT INTO item (name) VALUES ('Soap');
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
        INSERT INTO item (name) SELECT i FROM n;
        """, to: "0004_long.sql")
      var long = try shop.migrator()
      let calls = Atomic<Int>(0)
      long.progress = { _ in calls.wrappingAdd(1, ordering: .relaxed).newValue < 6 }
      let error = #expect(throws: PersistenceError.self) { try long.migrate(storeAt: shop.url) }
      #expect(error?.code == .migrationCancelled)
      try #expect(shop.rows("SELECT count(*) FROM item") == [["2"]])
      try #expect(shop.migrator().status(ofStoreAt: shop.url).currentVersion == 3)
      try shop.expectWhole()
    }
  }

  @Test("Several at once: each migration runs once, and all finish with nothing to do")
  func concurrent() async throws {
    try await withTemporaryFolder { root in
      let url = root.appendingPathComponent("App.db")
      let migrations = [SQLMigration(1, "create", sql: "CREATE TABLE mark (version INTEGER)")]
        + (2...20).map { version in SQLMigration(version, "mark", sql: "INSERT INTO mark VALUES (\(version))") }
      let migrator = try SQLMigrator(migrations)
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<6 { group.addTask { try migrator.migrate(storeAt: url).applied.count } }
        return try await group.reduce(0, +)
      }
      #expect(counts == 20)
      let versions = try MadeStore.rows("SELECT version FROM mark", at: url).map { $0[0] }
      #expect(versions == (2...20).map(String.init))
    }
  }

  @Test("A canceled task cancels the running migration")
  func task() async throws {
    try await withTemporaryFolder { root in
      let url = root.appendingPathComponent("App.db")
      let migrator = try SQLMigrator([
        SQLMigration(1, "create", sql: "CREATE TABLE a (x)"),
        SQLMigration(2, "wait") { database in
          withUnsafeCurrentTask { $0?.cancel() }
          try database.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
            INSERT INTO a SELECT i FROM n
            """)
        },
      ])
      let error = await #expect(throws: PersistenceError.self) {
        try await Task { _ = try migrator.migrate(storeAt: url) }.value
      }
      #expect(error?.code == .migrationCancelled)
      try #expect(MadeStore.rows("SELECT count(*) FROM a", at: url) == [["0"]])
    }
  }
}
