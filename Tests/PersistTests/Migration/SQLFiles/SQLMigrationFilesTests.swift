import Foundation
@testable import PersistCore
@testable import PersistModel
@testable import PersistSQLMigrations
import PersistTestSupport
import Testing

@testable import Persist

@Suite("SQL files: names and marks")
struct SQLMigrationFilesTests {
  @Test("Versions and names come from file names, in the forms that tools use")
  func names() throws {
    try SQLFolder.with([
      "0001_create.sql": "", "2-second.sql": "", "3.sql": "", "10_ten_things.up.sql": "", "10_ten_things.down.sql": "",
      "20260312090000_split names.SQL": "", "2026-04-01-101500_diesel/up.sql": "",
      "2026-04-01-101500_diesel/down.sql": "", ".hidden.sql": "", "README.md": "", "sub/notes.txt": "",
    ]) { folder in
      let files = try SQLMigration.files(in: folder.folder)
      #expect(files.map(\.version) == [1, 2, 3, 10, 20_260_312_090_000, 20_260_401_101_500])
      #expect(files.map(\.name) == ["create", "second", "", "ten_things", "split names", "diesel"])
      #expect(files.map(\.versionText).prefix(2) == ["0001", "2"])
    }
  }

  @Test("A file without a version in its name is skipped and listed", arguments: ["create.sql", "v1.sql", "٣.sql"])
  func noVersion(_ name: String) throws {
    try SQLFolder.with([name: "SELECT 1", "1_a.sql": "CREATE TABLE a (x)"]) { folder in
      let migrator = try folder.migrator()
      #expect(migrator.migrations.map(\.version) == [1])
      #expect(migrator.skippedFiles.map(\.lastPathComponent) == [name])
      try migrator.migrate(storeAt: folder.url)
      try #expect(folder.tables().contains("a"))
    }
    try SQLFolder.with([name: "SELECT 1"]) { folder in
      let error = #expect(throws: PersistenceError.self) { try folder.migrator() }
      #expect(error?.code == .fileAccess)
      #expect(error?.message.contains(name) == true)
      #expect(error?.fix?.contains("0001_create.sql") == true)
    }
  }

  @Test("A folder without SQL files is refused: it is the wrong one, or its files were forgotten")
  func empty() throws {
    try SQLFolder.with(["README.md": ""]) { folder in
      let error = #expect(throws: PersistenceError.self) { try folder.migrator() }
      #expect(error?.code == .fileAccess)
      try #expect(folder.migrator(and: [SQLMigration(1, "code", sql: "SELECT 1")]).migrations.count == 1)
    }
  }

  @Test("The part of a file that undoes a migration isn't run: dbmate, goose, sql-migrate", arguments: [
    "-- migrate:up\nCREATE TABLE a (x);\n-- migrate:down\nDROP TABLE a;",
    "-- migrate:down\nDROP TABLE a;\n-- migrate:up\nCREATE TABLE a (x);",
    "-- +goose Up\nCREATE TABLE a (x);\n-- +goose Down\nDROP TABLE a;",
    "-- +migrate Up\nCREATE TABLE a (x);\n-- +migrate Down\nDROP TABLE a;",
    "CREATE TABLE a (x);\n--migrate:down\nDROP TABLE a;",
  ])
  func wayBack(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text]) { folder in
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.tables().contains("a"))
    }
  }

  @Test("Other tools' marks for files without a transaction are respected", arguments: [
    "-- migrate:up transaction:false\nVACUUM;", "-- +goose NO TRANSACTION\n-- +goose Up\nVACUUM;",
    "-- +migrate Up notransaction\nVACUUM;",
  ])
  func withoutTransaction(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text]) { folder in
      try #expect(SQLMigration.files(in: folder.folder).map(\.runsInTransaction) == [false])
      try folder.migrator().migrate(storeAt: folder.url)
    }
  }

  @Test(
    "A part without a transaction doesn't affect the other one, unless the mark is for the whole file",
    arguments: [
      ("-- migrate:up transaction:false\nSELECT 1;\n-- migrate:down\nSELECT 2;", false, true),
      ("-- migrate:up\nSELECT 1;\n-- migrate:down transaction:false\nSELECT 2;", true, false),
      ("-- +migrate Up\nSELECT 1;\n-- +migrate Down notransaction\nSELECT 2;", true, false),
      ("-- +goose NO TRANSACTION\n-- +goose Up\nSELECT 1;\n-- +goose Down\nSELECT 2;", false, false),
      ("-- persist: without-transaction\nSELECT 1;\n-- down\nSELECT 2;", false, false),
    ])
  func transactionsOfParts(text: String, up: Bool, down: Bool) throws {
    try SQLFolder.with(["1_a.sql": text, "2_b.sql": "SELECT 1;", "2_b.down.sql": text]) { folder in
      let migrations = try SQLMigration.files(in: folder.folder)
      #expect(migrations.map(\.runsInTransaction) == [up, true])
      #expect(migrations.map { $0.reversed()?.runsInTransaction } == [down, down])
    }
  }

  @Test("Marks apply in lines that end with a carriage return and a line feed: parts", arguments: [
    "CREATE TABLE a (x);\n-- down\nDROP TABLE a;", "CREATE TABLE a (x);\n-- down \nDROP TABLE a;",
    "-- migrate:up\nCREATE TABLE a (x);\n-- migrate:down\nDROP TABLE a;",
    "-- +goose Up\nCREATE TABLE a (x);\n-- +goose Down\nDROP TABLE a;",
    "-- +migrate Up\nCREATE TABLE a (x);\n-- +migrate Down\nDROP TABLE a;",
  ])
  func partsWithCarriageReturns(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text.replacing("\n", with: "\r\n")]) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      try #expect(folder.tables().contains("a"))
      try migrator.rollBack(storeAt: folder.url)
      try #expect(!folder.tables().contains("a"))
    }
  }

  @Test("Marks apply in lines that end with a carriage return and a line feed: transactions", arguments: [
    "-- persist: without-transaction\nVACUUM;", "-- migrate:up transaction:false\nVACUUM;",
    "-- +goose NO TRANSACTION\n-- +goose Up\nVACUUM;", "-- +migrate Up notransaction\nVACUUM;",
  ])
  func transactionsWithCarriageReturns(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text.replacing("\n", with: "\r\n")]) { folder in
      try #expect(SQLMigration.files(in: folder.folder).map(\.runsInTransaction) == [false])
      try folder.migrator().migrate(storeAt: folder.url)
    }
  }

  @Test("Marks within comments of several lines, texts and quoted names have no meaning", arguments: [
    "/* To revert:\n-- down\nDROP TABLE a; */\nCREATE TABLE a (x);",
    "CREATE TABLE a (x DEFAULT 'it''s\n-- down\n');", "CREATE TABLE a ([x\n-- migrate:down\n], \"y\n-- down\n\");",
    "CREATE TABLE a (x); -- it's\n-- It isn't [here.\nINSERT INTO a VALUES ('\n-- persist: unknown\n');",
  ])
  func marksWithinOthers(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text + "\n-- down\nDROP TABLE a;"]) { folder in
      let migrator = try folder.migrator()
      try migrator.migrate(storeAt: folder.url)
      try #expect(folder.tables().contains("a"))
      try migrator.rollBack(storeAt: folder.url)
      try #expect(!folder.tables().contains("a"))
    }
  }

  @Test("A mark after a text or a comment that doesn't end is refused with the line in which that begins", arguments: [
    "CREATE TABLE a (x);\n/* The rest\n-- down\nDROP TABLE a;",
    "CREATE TABLE a (x);\nSELECT 'it;\n-- down\nDROP TABLE a;",
  ])
  func marksAfterUnfinished(_ text: String) throws {
    try SQLFolder.with(["1_a.sql": text]) { folder in
      let error = #expect(throws: PersistenceError.self) { try SQLMigration.files(in: folder.folder) }
      #expect(error?.code == .malformedFile)
      #expect(error?.place.line == 2)
    }
  }

  @Test("An unknown mark is refused with its line")
  func unknownMark() throws {
    try SQLFolder.with(["1_a.sql": "-- A table.\n-- persist: no-transaction\nVACUUM;"]) { folder in
      let error = #expect(throws: PersistenceError.self) { try SQLMigration.files(in: folder.folder) }
      #expect(error?.place.line == 2)
      #expect(error?.fix?.contains("without-transaction") == true)
    }
  }

  @Test("Text that isn't UTF-8, or that SQLite would read only in part, is refused")
  func encoding() throws {
    try SQLFolder.with([:]) { folder in
      for bytes in [Data([0x80, 0x41]), Data("SELECT 1;\0DROP TABLE a;".utf8)] {
        try bytes.write(to: folder.folder.appendingPathComponent("1_a.sql"))
        let error = #expect(throws: PersistenceError.self) { try SQLMigration.files(in: folder.folder) }
        #expect(error?.code == .malformedFile)
      }
    }
  }

  @Test("SQLite separates statements: triggers, texts, comments, empty statements, no semicolon at the end")
  func statements() throws {
    try SQLFolder.with([
      "1_all.sql": """
        ;; -- nothing; yet
        CREATE TABLE a (x TEXT); CREATE TABLE log (x TEXT);
        CREATE TRIGGER t AFTER INSERT ON a WHEN new.x <> ';' BEGIN
          INSERT INTO log VALUES (CASE WHEN new.x = 'END' THEN 'yes;' ELSE 'no' END);
          INSERT INTO log VALUES ('second');
        END;
        /* ; */ INSERT INTO a VALUES ('END'); INSERT INTO a VALUES (';'); INSERT INTO a VALUES ('"--''') -- the last
        """,
      "2_empty.sql": "-- Only a comment.",
    ]) { folder in
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("SELECT x FROM log") == [["yes;"], ["second"], ["no"], ["second"]])
      try #expect(folder.rows("SELECT x FROM a") == [["END"], [";"], ["\"--'"]])
    }
  }

  @Test("The time for a file of many statements is proportional to their number")
  func many() throws {
    let lines = (1...30_000).map { "INSERT INTO a VALUES (\($0), 'a text that makes the line a little longer');" }
    try SQLFolder.with(["1_a.sql": "CREATE TABLE a (x, y);\n" + lines.joined(separator: "\n")]) { folder in
      let start = ContinuousClock.now
      try folder.migrator().migrate(storeAt: folder.url)
      try #expect(folder.rows("SELECT count(*) FROM a") == [["30000"]])
      // Copying the remaining text for each statement would move 30 GB.
      #expect(ContinuousClock.now - start < .seconds(30))
    }
  }
}
