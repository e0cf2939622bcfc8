import Foundation
import PersistSQLMigrations
import PersistTestSupport
import Testing

import Persist

@Suite("The article on SQL files")
struct SQLGuideTests {
  @Test("Its code migrates a database to the newest version")
  func code() throws {
    try SQLFolder.with([
      "0001_create_notes.sql": "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT);",
      "0002_add_author.sql": """
        ALTER TABLE note ADD COLUMN author TEXT;
        CREATE TRIGGER note_author AFTER INSERT ON note WHEN new.author IS NULL BEGIN
          UPDATE note SET author = 'unknown' WHERE id = new.id;
        END;
        INSERT INTO note (title) VALUES (' Tea ');
        """,
    ]) { notes in
      let (folder, url) = (notes.folder, notes.url)
      let migrator = try SQLMigrator(
        filesIn: folder,
        and: [
          SQLMigration(3, "trim_titles") { database in
            try database.forEachRow("SELECT id, title FROM note ORDER BY id") { row in
              let title = row["title"].stringValue?.trimmingCharacters(in: .whitespaces) ?? ""
              try database.execute("UPDATE note SET title = ? WHERE id = ?", .text(title), row["id"])
            }
          }
        ])

      let status = try migrator.status(ofStoreAt: url)                 // never writes
      print(status.pending.map(\.name))

      let report = try migrator.migrate(storeAt: url)                  // or migrate(storeAt: url, to: 2)
      print(report.applied.count, "migrations in", report.duration)
      try #expect(notes.rows("SELECT title, author FROM note") == [["Tea", "unknown"]])
    }
  }

  @Test("Every line of code in the article is in these tests")
  func article() throws {
    let (missing, shown) = try ArticleCode.missing(
      from: #filePath, inArticle: "Sources/PersistSQLMigrations/PersistSQLMigrations.docc/MigratingWithSQLFiles.md")
    #expect(missing == [])
    #expect(shown > 10)
  }
}
