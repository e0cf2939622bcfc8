import Foundation
import Testing

@testable import Persist

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

  @Test("A pragma's name and value can't carry SQL", arguments: [
    ("synchronous", "FULL; DROP TABLE ZPOST"), ("synchronous; DROP TABLE ZPOST", "FULL"), ("", "1"), ("synchronous", ""),
    ("main.synchronous", "1"), ("synchronous", "'x'"), ("no_such_pragma", "1"),
  ])
  func pragmas(name: String, value: String) {
    let error = #expect(throws: PersistError.self) {
      try SQLiteConnection(nil, mode: .memory, options: StoreOptions(pragmas: [name: value]))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test("Pragmas from the options are set")
  func setPragmas() throws {
    let connection = try SQLiteConnection(
      nil, mode: .memory, options: StoreOptions(pragmas: ["cache_size": "-123", "synchronous": "FULL"]))
    #expect(try connection.first("PRAGMA cache_size") { $0.integer(0) } == -123)
    #expect(try connection.first("PRAGMA synchronous") { $0.integer(0) } == 2)
  }

  @Test("Functions are found in definitions, and told apart by whether their result is used")
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
}
