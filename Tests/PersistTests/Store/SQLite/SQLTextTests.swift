import Foundation
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("SQL text")
struct SQLTextTests {
  @Test("Values are bound and names quoted")
  func building() {
    let name = "odd \"name\""
    let sql: SQLText = "SELECT \(names: ["ZTITLE", "ORDER"]) FROM \(name: name) WHERE ZTITLE = \(value: .text("a'b"))"
    #expect(sql.text == #"SELECT ZTITLE, "ORDER" FROM "odd ""name""" WHERE ZTITLE = ?"#)
    #expect(sql.values == [.text("a'b")])
    let list: SQLText = "Z_PK IN (\(values: [.integer(1), .integer(2)]))"
    #expect(list.text == "Z_PK IN (?, ?)")
    #expect(([sql, list] as [SQLText]).joined(separator: " AND ").values.count == 3)
    #expect(("DEFAULT \(literal: "it's")" as SQLText).text == "DEFAULT 'it''s'")
  }

  @Test(
    "Literals and names read back, whatever follows a quotation mark",
    arguments: ["\u{301}", "\u{FE0F}", "\u{200D}", ""])
  func quoting(mark: String) throws {
    let text = "'\(mark)\"\(mark)\\\(mark)?"
    let connection = try SQLiteConnection(nil, mode: .memory)
    defer { connection.close() }
    try #expect(Array(connection.first("SELECT \(literal: text)") { $0.text(0) }?.utf8 ?? "".utf8) == Array(text.utf8))
    try connection.execute("CREATE TABLE \(name: text) (x)")
    let names = try connection.all("SELECT name FROM sqlite_schema") { $0.text(0) }
    #expect(names.map { Array($0.utf8) } == [Array(text.utf8)])
    let withLiterals = ("SELECT \(literal: text), \(value: .text(text))" as SQLText).withLiterals
    #expect(Array(withLiterals.utf8) == Array(("SELECT \(literal: text), \(literal: text)" as SQLText).text.utf8))
  }

  @Test("A pragma's name and value can't contain SQL", arguments: [
    ("synchronous", "FULL; DROP TABLE ZPOST"), ("synchronous; DROP TABLE ZPOST", "FULL"), ("", "1"), ("synchronous", ""),
    ("main.synchronous", "1"), ("synchronous", "'x'"), ("no_such_pragma", "1"),
  ])
  func pragmas(name: String, value: String) {
    let error = #expect(throws: PersistenceError.self) {
      try SQLiteConnection(nil, mode: .memory, options: StoreOptions(pragmas: [name: value]))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test("A pragma's value must be one that SQLite knows, because it ignores others", arguments: [
    ("journal_mode", "NONSENSE"), ("synchronous", "FUL"), ("foreign_keys", "maybe"), ("cache_size", "large"),
    ("page_size", "5000"), ("temp_store", "3"), ("locking_mode", "SHARED"), ("secure_delete", "slow"),
    ("mmap_size", "1.5"), ("auto_vacuum", "yes"),
  ])
  func wrongPragmaValues(name: String, value: String) {
    let error = #expect(throws: PersistenceError.self) {
      try SQLiteConnection(nil, mode: .memory, options: StoreOptions(pragmas: [name: value]))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains(value) == true && error?.fix != nil)
  }

  @Test("Every value in SQLite's documentation is accepted", arguments: [
    ("journal_mode", "truncate"), ("synchronous", "2"), ("foreign_keys", "on"), ("cache_size", "-2000"),
    ("secure_delete", "fast"), ("mmap_size", "268435456"), ("encoding", "UTF-16le"), ("temp_store", "memory"),
    ("auto_vacuum", "INCREMENTAL"), ("optimize", "0xfffe"), ("recursive_triggers", "TRUE"), ("page_size", "65536"),
  ])
  func pragmaValues(name: String, value: String) throws {
    _ = try SQLiteConnection(nil, mode: .memory, options: StoreOptions(pragmas: [name: value]))
  }

  @Test("Pragmas from the options are set")
  func setPragmas() throws {
    let connection = try SQLiteConnection(
      nil, mode: .memory, options: StoreOptions(pragmas: ["cache_size": "-123", "synchronous": "FULL"]))
    #expect(try connection.first("PRAGMA cache_size") { $0.integer(0) } == -123)
    #expect(try connection.first("PRAGMA synchronous") { $0.integer(0) } == 2)
  }

  @Test("Functions are found in definitions, with whether their result is used")
  func calls() {
    let trigger = StoredFunctionCalls(
      in: StoredDefinition(
        sql: """
          CREATE TRIGGER "t (" AFTER INSERT ON ZA FOR EACH ROW WHEN f1(NEW.ZB) /* no(x) */ BEGIN
          INSERT INTO ZC (Z_PK) VALUES (f2(1)); -- no(x)
          SELECT Report('a(b)', Z_PK) FROM ZC;
          UPDATE ZC SET ZX = (SELECT inner1(ZY) FROM ZD); END
          """), isTrigger: true)
    #expect(trigger.calls.filter(\.isForEffect).map(\.name) == ["Report"])
    #expect(Set(trigger.calls.map(\.name)).isSuperset(of: ["f1", "f2", "inner1"]))
    #expect(!trigger.calls.contains { $0.name == "no" || $0.name == "ZC" || $0.name == "a" })
    let index = StoredFunctionCalls(
      in: StoredDefinition(sql: "CREATE INDEX i ON ZA (f(ZB) COLLATE BINARY ASC)"), isTrigger: false)
    #expect(index.calls.map(\.name) == ["f"])
  }

  @Test("Names are found in definitions, however they are quoted, but not in texts and comments")
  func mentions() {
    let trigger = """
      CREATE TRIGGER t AFTER UPDATE ON ZA BEGIN -- the owner's ZNOTE
      UPDATE ZA SET "zb" = `_c`, [Z D] = 'ZTEXT' /* isn't ZMORE */ WHERE Z_PK = 1; END
      """
    for name in ["za", "ZB", "_C", "Z D", "z_pk"] { #expect(SQLTokens.mentions(name, in: trigger), "\(name)") }
    for name in ["ZNOTE", "ZTEXT", "ZMORE", "owner"] { #expect(!SQLTokens.mentions(name, in: trigger), "\(name)") }
    let index = "CREATE UNIQUE INDEX i /* it's mine */ ON ZA (ZB, ZC DESC)"
    #expect(IndexSignature(definition: index)?.columns.map(\.name) == ["zb", "zc"])
  }

  @Test("Names are found between texts that begin or end with combining marks, as SQLite divides them")
  func combiningMarks() {
    let view = """
      CREATE VIEW v AS SELECT '\u{301}ZTEXT', "\u{301}b", ZC/* \u{301}*\u{301}/ ZMORE */, n\u{301}(ZD)--\u{301} ZNOTE
      FROM ZA
      """
    for name in ["zc", "ZA", "ZD", "\u{301}B", "N\u{301}"] { #expect(SQLTokens.mentions(name, in: view), "\(name)") }
    for name in ["ZTEXT", "ZMORE", "ZNOTE"] { #expect(!SQLTokens.mentions(name, in: view), "\(name)") }
    let calls = StoredFunctionCalls(in: StoredDefinition(sql: view), isTrigger: false)
    #expect(calls.calls.map(\.name) == ["n\u{301}"])
  }
}
