import Foundation
@testable import PersistCore
@testable import PersistModel
@testable import PersistSQLMigrations
import PersistTestSupport
import Testing

@testable import Persist

@Suite("SQL files: failures")
struct SQLMigrationFailureTests {
  private func failure(_ folder: SQLFolder, sourceLocation: SourceLocation = #_sourceLocation) throws -> PersistenceError {
    try #require(
      #expect(throws: PersistenceError.self, sourceLocation: sourceLocation) {
        try folder.migrator().migrate(storeAt: folder.url)
      })
  }

  @Test("A failing statement reports file, line, column and SQLite's message; its file is undone, earlier ones remain")
  func statement() throws {
    try SQLFolder.with([
      "1_create.sql": "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
      "2_break.sql": """
        -- A comment; with a semicolon.
        INSERT INTO item (name) VALUES ('one;two');
        /* another
           comment */ INSERT INTO item (nam) VALUES ('x');
        """,
    ]) { folder in
      let error = try failure(folder)
      #expect(error.code == .migrationFailed)
      #expect(error.place.file?.lastPathComponent == "2_break.sql")
      #expect(error.place.line == 4)
      #expect(error.message.contains("no column named nam"))
      #expect(error.message.contains("as it was before 2_break"))
      #expect(error.message.contains("Applied before it: 1."))
      #expect(error.place.sql?.hasPrefix("INSERT INTO item (nam)") == true)
      #expect(error.description.contains("2_break.sql:4:"))
      try #expect(folder.rows("SELECT count(*) FROM item") == [["0"]])
      try folder.expectWhole()

      try folder.write("INSERT INTO item (name) VALUES ('mended')", to: "2_break.sql")
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.map(\.version) == [2])
    }
  }

  @Test("The column is that of the word at which SQLite stops, if SQLite reports it")
  func column() throws {
    try SQLFolder.with(["1_typo.sql": "CREATE TABLE a (x);\n\n  SELEKT 1;\n"]) { folder in
      let error = try failure(folder)
      #expect(error.place.line == 3)
      #expect(error.place.column == 3)
      try #expect(folder.tables() == [])
    }
  }

  @Test("A database constraint violated by a row is reported at its statement")
  func constraint() throws {
    try SQLFolder.with([
      "1_rows.sql": "CREATE TABLE a (x UNIQUE);\nINSERT INTO a VALUES (1);\nINSERT OR ROLLBACK INTO a VALUES (1);"
    ]) { folder in
      let error = try failure(folder)
      #expect(error.code == .migrationFailed)
      #expect(error.place.line == 3)
      #expect(error.message.contains("UNIQUE"))
      try #expect(folder.tables() == [])
    }
  }

  @Test(
    "A file that manages transactions itself is refused with advice; savepoints are allowed",
    arguments: ["BEGIN", "begin immediate", "COMMIT", "END TRANSACTION", "ROLLBACK", "PRAGMA journal_mode = wal"])
  func transactions(_ statement: String) throws {
    try SQLFolder.with([
      "1_own.sql": "SAVEPOINT a;\nCREATE TABLE a (x);\nRELEASE a;\n\(statement);\nCREATE TABLE b (x);"
    ]) { folder in
      let error = try failure(folder)
      #expect(error.code == .migrationFailed)
      #expect(error.place.line == 4)
      #expect(error.fix?.contains("-- persist: without-transaction") == true)
      try #expect(folder.tables() == [])
    }
  }

  @Test("Code can't end the transaction, nor continue when a statement has rolled it back")
  func codeAndTransactions() throws {
    try SQLFolder.with([:]) { folder in
      for work in [
        SQLMigration(1, "commit") { database in
          try database.execute("CREATE TABLE a (x)")
          _ = try? database.execute("COMMIT")
          try database.execute("SELECT * FROM nowhere")
        },
        SQLMigration(1, "rollback") { database in
          try database.execute("CREATE TABLE a (x UNIQUE); INSERT INTO a VALUES (1)")
          _ = try? database.execute("INSERT OR ROLLBACK INTO a VALUES (1)")
          try database.execute("CREATE TABLE b (x)")
        },
      ] {
        let error = #expect(throws: PersistenceError.self) { try SQLMigrator([work]).migrate(storeAt: folder.url) }
        #expect(error?.code == .migrationFailed)
        try #expect(folder.tables() == [])
      }
    }
  }

  @Test("VACUUM in a transaction reports where to put it, and runs there", .aboutPlainFiles("headers"))
  func outside() throws {
    try SQLFolder.with(["1_vacuum.sql": "VACUUM;"]) { folder in
      try #expect(failure(folder).fix?.contains("-- persist: without-transaction") == true)
      try folder.write(
        """
        -- persist: without-transaction
        PRAGMA journal_mode = WAL;
        BEGIN;
        CREATE TABLE a (x);
        COMMIT;
        VACUUM;
        """, to: "1_vacuum.sql")
      try folder.migrator().migrate(storeAt: folder.url)
      // The byte of the header that contains it.
      try #expect(Data(contentsOf: folder.url)[18] == 2)
      try #expect(folder.migrator().status(ofStoreAt: folder.url).pending.isEmpty)
    }
  }

  @Test("Without a transaction, statements before the failure remain, and the error says so")
  func outsideFails() throws {
    try SQLFolder.with([
      "1_half.sql": "-- persist: without-transaction\nCREATE TABLE IF NOT EXISTS a (x);\nBEGIN;\nDROP TABLE nowhere;"
    ]) { folder in
      let error = try failure(folder)
      #expect(error.message.contains("remain applied"))
      try #expect(folder.tables() == ["a"])
      try folder.write(
        "-- persist: without-transaction\nCREATE TABLE IF NOT EXISTS a (x);\nBEGIN;", to: "1_half.sql")
      try #expect(failure(folder).message.contains("didn't end it"))
      try folder.write(
        "-- persist: without-transaction\nCREATE TABLE IF NOT EXISTS a (x);", to: "1_half.sql")
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.count == 1)
    }
  }

  @Test("A parameter in a file and values that don't match the statement are refused")
  func parameters() throws {
    try SQLFolder.with(["1_parameter.sql": "CREATE TABLE a (x); INSERT INTO a VALUES (?)"]) { folder in
      try #expect(failure(folder).message.contains("takes 1 value and was given 0"))
      let code = SQLMigration(1, "code") { try $0.execute("SELECT ?; SELECT ?", 1) }
      #expect(throws: PersistenceError.self) { try SQLMigrator([code]).migrate(storeAt: folder.url) }
    }
  }

  @Test("An edited file is detected, line endings don't matter, and an edit can be accepted")
  func edited() throws {
    try SQLFolder.with(["1_a.sql": "CREATE TABLE a (x);\nCREATE TABLE b (x);\n"]) { folder in
      try folder.migrator().migrate(storeAt: folder.url)
      try folder.write("\u{FEFF}CREATE TABLE a (x);\r\nCREATE TABLE b (x);\r\n", to: "1_a.sql")
      try #expect(folder.migrator().status(ofStoreAt: folder.url).problems.isEmpty)

      try folder.write("CREATE TABLE a (x);\nCREATE TABLE c (x);\n", to: "1_a.sql")
      try folder.write("CREATE TABLE d (x);\n", to: "2_d.sql")
      let status = try folder.migrator().status(ofStoreAt: folder.url)
      #expect(status.entries.map(\.state) == [.changed, .pending])
      let error = try failure(folder)
      #expect(error.code == .migrationFileChanged)
      #expect(error.place.file?.lastPathComponent == "1_a.sql")
      try #expect(!folder.tables().contains("d"))

      try #expect(folder.migrator().acceptChanges(inStoreAt: folder.url).map(\.version) == [1])
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.map(\.version) == [2])
      try #expect(folder.migrator().status(ofStoreAt: folder.url).entries.map(\.state) == [.applied, .applied])
    }
  }

  @Test("A file that isn't a database, or is a folder, is refused and unchanged")
  func noDatabase() throws {
    try SQLFolder.with(["1_a.sql": "CREATE TABLE a (x);"]) { folder in
      try Data("Only text, and enough of it to be taken for something else. ".utf8).write(to: folder.url)
      let before = try FolderSnapshot(folder.url.deletingLastPathComponent())
      try #expect(failure(folder).code == .storeDamaged)
      #expect(throws: PersistenceError.self) { try folder.migrator().status(ofStoreAt: folder.url) }
      #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.folder) }
      try #expect(FolderSnapshot(folder.url.deletingLastPathComponent()) == before)
    }
  }

  @Test("A process killed during a migration leaves the database as it was before it")
  func killed() throws {
    try SQLFolder.with([
      "1_a.sql": "CREATE TABLE a (x);", "2_b.sql": "PRAGMA cache_size = 2; INSERT INTO a VALUES (1);",
    ]) { folder in
      let image = folder.url.deletingLastPathComponent().appendingPathComponent("Killed.db")
      let copying = SQLMigration(3, "copy") { [url = folder.url] database in
        try database.execute(
          """
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
          INSERT INTO a SELECT randomblob(4000) FROM n
          """)
        // The files at this moment are what a process leaves if it is killed now.
        for suffix in ["", "-journal", "-wal"] {
          let file = URL(fileURLWithPath: url.path + suffix)
          guard FileManager.default.fileExists(atPath: file.path) else { continue }
          try FileManager.default.copyItem(at: file, to: URL(fileURLWithPath: image.path + suffix))
        }
      }
      try folder.migrator(and: [copying]).migrate(storeAt: folder.url)
      let killed = SQLFolder(folder: folder.folder, url: image)
      try killed.run("SELECT 1 FROM a")
      try #expect(killed.rows("SELECT x FROM a") == [["1"]])
      try killed.expectWhole()
      try #expect(killed.rows("SELECT max(version) FROM schema_migrations") == [["2"]])
    }
  }
}
