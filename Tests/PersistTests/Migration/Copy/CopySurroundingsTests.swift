import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Additions to a store's tables when it is copied")
struct CopySurroundingsTests {
  private func copy(_ url: URL, from old: ManagedObjectModel, to new: ManagedObjectModel) throws {
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    let report = try AutomaticMigrator(alwaysCopies: true).migrate(
      storeAt: url, to: registry.versions[1], registry: registry)
    #expect(report.way == .copy)
  }

  private func item(_ attributes: String...) throws -> ManagedObjectModel {
    try model(EntityDescription("Item", attributes: attributes.map { AttributeDescription($0, .string) }))
  }

  @Test(
    "The application's own tables, indexes, triggers and views are kept, with their rows and last keys",
    .aboutFiles("SQLite's definitions"))
  func tables() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a", "x"), try item("a", "b"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "CREATE TABLE NOTES (ID INTEGER PRIMARY KEY AUTOINCREMENT, T, LONG AS (T || '!'))",
        "CREATE TABLE PLAIN (K TEXT PRIMARY KEY, V BLOB, ZX) WITHOUT ROWID",
        "INSERT INTO NOTES (ID, T) VALUES (3, 'kept'), (9, 'gone')", "DELETE FROM NOTES WHERE ID = 9",
        "INSERT INTO PLAIN VALUES ('k', x'0102', 7)",
        "CREATE INDEX BY_T ON NOTES (T)", "CREATE VIEW SHOWN AS SELECT T FROM NOTES",
        "CREATE VIEW BROKEN AS SELECT ZX FROM ZITEM", "CREATE VIEW BEHIND AS SELECT 1 FROM BROKEN",
        "CREATE VIEW JOINED AS SELECT ZA FROM ZITEM JOIN PLAIN USING (ZX)",
        // The column of this name that remains is another table's.
        "CREATE VIEW OTHERS AS SELECT ZITEM.ZA, PLAIN.ZX FROM ZITEM JOIN PLAIN",
        "CREATE TRIGGER CLEARS AFTER INSERT ON PLAIN BEGIN UPDATE PLAIN SET ZX = NULL; END",
        "CREATE TRIGGER NOTED AFTER UPDATE OF ZA ON ZITEM BEGIN INSERT INTO NOTES (T) VALUES (NEW.ZA); END",
        "CREATE TRIGGER GOES AFTER UPDATE OF ZX ON ZITEM BEGIN INSERT INTO NOTES (T) VALUES (NEW.ZX); END",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'one')", at: url)
      try copy(url, from: old, to: new)
      try #expect(MadeStore.rows("SELECT ID, T, LONG FROM NOTES", at: url) == [["3", "kept", "kept!"]])
      try #expect(MadeStore.rows("SELECT K, HEX(V) FROM PLAIN", at: url) == [["k", "0102"]])
      try MadeStore.run("UPDATE ZITEM SET ZA = 'two'", at: url)
      try #expect(MadeStore.rows("SELECT ID, T FROM NOTES", at: url) == [["3", "kept"], ["10", "two"]])
      try #expect(MadeStore.rows("SELECT * FROM SHOWN", at: url) == [["kept"], ["two"]])
      try #expect(
        MadeStore.rows(
          "SELECT name FROM sqlite_master WHERE type <> 'table' AND sql <> '' ORDER BY 1", at: url)
          == [["BY_T"], ["CLEARS"], ["NOTED"], ["OTHERS"], ["SHOWN"]])
      try #expect(MadeStore.rows("SELECT * FROM OTHERS", at: url) == [["two", "7"]])
    }
  }

  @Test(
    "Additions to the model's tables are kept: columns with their values, and indexes",
    .aboutFiles("SQLite's definitions"))
  func added() throws {
    try withTemporaryStore { url in
      let animals = [
        EntityDescription("Animal", attributes: [AttributeDescription("a", .string)]),
        EntityDescription("Cat", parent: "Animal"),
      ]
      let old = try model(animals[0], animals[1], EntityDescription("Gone"))
      var changed = animals
      changed[0].attributes.append(AttributeDescription("extra", .int16))
      let new = try model(changed[0], changed[1], EntityDescription("Aardvark"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "ALTER TABLE ZANIMAL ADD COLUMN ZEXTRA VARCHAR(9)", "ALTER TABLE ZANIMAL ADD COLUMN MORE",
        "ALTER TABLE ZGONE ADD COLUMN LOST",
        "CREATE INDEX MINE ON ZANIMAL (ZA, MORE)", "CREATE INDEX LOWER ON ZANIMAL (LOWER(ZA))",
        "CREATE INDEX OLD ON ZGONE (LOST)",
        "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZA, ZEXTRA, MORE) VALUES (3, 1, 1, 'one', 'x', 7)",
        "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZA, ZEXTRA, MORE) VALUES (5, 2, 1, 'two', 'y', NULL)", at: url)
      try copy(url, from: old, to: new)
      try #expect(
        MadeStore.rows("SELECT Z_PK, ZA, ZEXTRA, ZEXTRA_KEPT, MORE FROM ZANIMAL ORDER BY 1", at: url)
          == [["3", "one", "nil", "x", "7"], ["5", "two", "nil", "y", "nil"]])
      try #expect(
        MadeStore.rows(
          "SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'Z%' AND sql <> '' ORDER BY 1",
          at: url)
          == [["LOWER"], ["MINE"]])
    }
  }

  @Test(
    "A virtual table of the application's own finds the same rows as before",
    .aboutFiles("SQLite's virtual tables"))
  func virtualTables() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a"), try item("a", "b"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "CREATE VIRTUAL TABLE WORDS USING fts5(T)", "INSERT INTO WORDS VALUES ('green tea'), ('black coffee')",
        "CREATE VIRTUAL TABLE BOXES USING rtree(ID, X1, X2)", "INSERT INTO BOXES VALUES (1, 0, 5), (2, 7, 9)", at: url)
      try copy(url, from: old, to: new)
      try #expect(MadeStore.rows("SELECT T FROM WORDS WHERE WORDS MATCH 'tea'", at: url) == [["green tea"]])
      try #expect(MadeStore.rows("SELECT ID FROM BOXES WHERE X1 > 6", at: url) == [["2"]])
      try MadeStore.run("INSERT INTO WORDS VALUES ('white tea')", at: url)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM WORDS WHERE WORDS MATCH 'tea'", at: url) == [["2"]])
    }
  }

  @Test("Rows without a key of their own keep the number by which others find them", .aboutFiles("SQLite's rowids"))
  func rowids() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a"), try item("a", "b"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "CREATE TABLE NOTES (T)", "INSERT INTO NOTES VALUES ('gone'), ('green tea'), ('black coffee')",
        "CREATE TABLE NAMED (ROWID TEXT, T)", "INSERT INTO NAMED VALUES ('x', 'gone'), ('y', 'kept')",
        "CREATE VIRTUAL TABLE WORDS USING fts5(T, content='NOTES')",
        "INSERT INTO WORDS (WORDS) VALUES ('rebuild')",
        "INSERT INTO WORDS (WORDS, rowid, T) VALUES ('delete', 1, 'gone')",
        "DELETE FROM NOTES WHERE T = 'gone'", "DELETE FROM NAMED WHERE T = 'gone'", at: url)
      try copy(url, from: old, to: new)
      try #expect(MadeStore.rows("SELECT rowid, T FROM NOTES", at: url) == [["2", "green tea"], ["3", "black coffee"]])
      try #expect(MadeStore.rows("SELECT _rowid_, ROWID FROM NAMED", at: url) == [["2", "y"]])
      try #expect(MadeStore.rows("SELECT T FROM WORDS WHERE WORDS MATCH 'tea'", at: url) == [["green tea"]])
    }
  }

  @Test(
    "The file keeps its settings, and the numbers with which the application marks it", .aboutFiles("headers"),
    .aboutPlainFiles("sizes of pages, which a key's settings determine"))
  func settings() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a"), try item("a", "b"))
      try MadeStore.make(old, at: url)
      try MadeStore.run(
        "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 8192", "VACUUM", "PRAGMA user_version = 7",
        "PRAGMA application_id = -3", "PRAGMA auto_vacuum = FULL", at: url)
      try copy(url, from: old, to: new)
      let settings = [("page_size", "8192"), ("user_version", "7"), ("application_id", "-3"), ("auto_vacuum", "1")]
      for (setting, value) in settings {
        try #expect(MadeStore.rows("PRAGMA \(setting)", at: url) == [[value]], "\(setting)")
      }
    }
  }

  @Test(
    "The store's history continues with the new entity numbers, and drops removed entities",
    .aboutFiles("histories that Core Data wrote"))
  func history() throws {
    try MadeStore.expectHistoryGoesOn { try copy($0, from: $1, to: $2) }
  }

  @Test("A row of no entity is refused instead of being left out, and the store stays unchanged")
  func unknownRows() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a"), try item("a", "b"))
      try MadeStore.make(old, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'one'), (2, 7, 1, 'two')", at: url)
      let error = #expect(throws: PersistenceError.self) { try copy(url, from: old, to: new) }
      let messages = error.map { [$0.message] + $0.errors.map(\.message) } ?? []
      #expect(messages.contains { $0.hasSuffix("with an entity number of none of the table's entities: 1.") })
      try #expect(MadeStore.rows("SELECT ZA FROM ZITEM ORDER BY Z_PK", at: url) == [["one"], ["two"]])
    }
  }

  @Test("A table whose name the new model needs is refused by name, and the store stays unchanged")
  func taken() throws {
    try withTemporaryStore { url in
      let (old, new) = (try item("a"), try model(EntityDescription("Item"), EntityDescription("Note")))
      try MadeStore.make(old, at: url)
      let table = TestEngine.current == .sqlite ? "ZNOTE" : "note"
      try MadeStore.run("CREATE TABLE \(table) (T VARCHAR)", "INSERT INTO \(table) VALUES ('mine')", at: url)
      let error = #expect(throws: PersistenceError.self) { try copy(url, from: old, to: new) }
      #expect(error?.message.contains("'\(table)'") == true, "\(error?.message ?? "")")
      try #expect(MadeStore.rows("SELECT T FROM \(table)", at: url) == [["mine"]])
    }
  }
}
