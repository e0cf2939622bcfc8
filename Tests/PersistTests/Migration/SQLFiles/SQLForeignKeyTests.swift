import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistSQLMigrations

@Suite("SQL files: foreign keys")
struct SQLForeignKeyTests {
  private static let tables = [
    "1_create.sql": """
      CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE note (id INTEGER PRIMARY KEY, folder INTEGER REFERENCES folder (id) ON DELETE CASCADE);
      INSERT INTO folder VALUES (1, 'a'), (2, 'b');
      INSERT INTO note VALUES (10, 1), (11, 2);
      """
  ]

  @Test("Re-creating a table deletes no rows of other tables")
  func rebuild() throws {
    try SQLFolder.with(Self.tables) { folder in
      try folder.write(
        """
        PRAGMA foreign_keys = OFF;
        CREATE TABLE new_folder (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO new_folder SELECT id, name FROM folder;
        DROP TABLE folder;
        ALTER TABLE new_folder RENAME TO folder;
        PRAGMA foreign_keys = ON;
        """, to: "2_rebuild.sql")
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("SELECT id, folder FROM note") == [["10", "1"], ["11", "2"]])
      try #expect(folder.rows("PRAGMA foreign_key_check") == [])
    }
  }

  @Test("Rows with invalid references undo the migration, with table, parent and a row")
  func dangling() throws {
    try SQLFolder.with(Self.tables) { folder in
      try folder.write("DELETE FROM folder WHERE id = 2", to: "2_delete.sql")
      let error = #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.url) }
      #expect(error?.code == .migrationFailed)
      #expect(error?.message.contains("1 row of 'note', such as row 11, refers to missing rows of 'folder'") == true)
      try #expect(folder.rows("SELECT count(*) FROM folder") == [["2"]])
    }
  }

  @Test("If foreign keys are enforced, deleting cascades as the tables declare")
  func enforced() throws {
    try SQLFolder.with(Self.tables) { folder in
      try folder.write("-- persist: enforce-foreign-keys\nDELETE FROM folder WHERE id = 2", to: "2_delete.sql")
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("SELECT id FROM note") == [["10"]])

      try folder.write(
        "-- persist: enforce-foreign-keys\nINSERT INTO note VALUES (12, 3);\nINSERT INTO folder VALUES (3, 'c');",
        to: "3_order.sql")
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("SELECT count(*) FROM note") == [["2"]])
    }
  }

  @Test("Rows whose references were already invalid don't stop a migration")
  func before() throws {
    try SQLFolder.with(Self.tables) { folder in
      try folder.migrator().migrate(storeAt: folder.url)
      try folder.run("INSERT INTO note VALUES (12, 99)")
      try folder.write("ALTER TABLE note ADD COLUMN text TEXT", to: "2_text.sql")
      try folder.migrator().migrate(storeAt: folder.url)
      try folder.write("INSERT INTO note VALUES (13, 98, '')", to: "3_worse.sql")
      #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.url) }
    }
  }

  @Test("A declaration that SQLite can't check doesn't stop a migration, but a new one does")
  func mismatch() throws {
    let mismatch = "CREATE TABLE parent (x); CREATE TABLE child (p REFERENCES parent (x)); INSERT INTO child VALUES (1);"
    try SQLFolder.with(["2_a.sql": "CREATE TABLE a (x)"]) { folder in
      try folder.run(mismatch)
      try #expect(folder.migrator().migrate(storeAt: folder.url).applied.count == 1)
    }
    try SQLFolder.with(["1_mismatch.sql": mismatch]) { folder in
      let error = #expect(throws: PersistenceError.self) { try folder.migrator().migrate(storeAt: folder.url) }
      #expect(error?.message.contains("foreign key mismatch") == true)
      try #expect(folder.tables() == [])
    }
  }
}
