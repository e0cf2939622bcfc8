import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Wrong format strings")
struct FormatErrorTests {
  struct Wrong: Sendable, CustomTestStringConvertible {
    let format: String
    let column: Int
    let says: String

    init(_ format: String, _ column: Int, _ says: String) {
      self.format = format
      self.column = column
      self.says = says
    }

    var testDescription: String { format }
  }

  @Test(
    "An error states the column and what was expected there",
    arguments: [
      Wrong("", 1, "Expected a value or a key, found the end"), Wrong("name", 5, "Expected a comparison"),
      Wrong("name ==", 8, "Expected a value or a key"), Wrong("name == 'x", 9, "no closing"),
      Wrong("name = = 'x'", 8, "Expected a value"), Wrong("(a == 1", 8, "Expected ')'"),
      Wrong("a == 1)", 7, "found ')'"),
      Wrong("a == 1 b", 8, "Expected an operator or the end"), Wrong("a == 1 AND", 11, "Expected a value"),
      Wrong("AND a == 1", 1, "found 'AND'"), Wrong("in == 1", 1, "found 'in'"),
      Wrong("a == 1 == 2", 8, "found '=='"),
      Wrong("isHidden AND a == 1", 10, "Expected a comparison"), Wrong("NOT isHidden", 13, "Expected a comparison"),
      Wrong("a == %@", 6, "no argument 1"), Wrong("a == %y", 6, "conversion after '%'"),
      Wrong("a ==[x] 1", 6, "c, d, n or l"),
      Wrong("a ==[c 1", 8, "']'"), Wrong("a BETWEEN {1}", 11, "two bounds"),
      Wrong("nofunc:(1) == 1", 1, "no function"),
      Wrong("abs:(1, 2) == 1", 1, "takes 1 arguments"), Wrong("a.@foo == 1", 3, "no collection operator"),
      Wrong("a. == 1", 4, "Expected a key"), Wrong("12abc == 1", 1, "isn't valid in the number"),
      Wrong("a == 0xG", 6, "base 16"), Wrong("a == 1e999", 6, "too large"),
      Wrong("a == '\\uD800'", 7, "isn't a Unicode character"),
      Wrong("a == '\\u12'", 7, "hexadecimal digits"), Wrong("SUBQUERY(a, b, c == 1).@count > 0", 13, "a variable"),
      Wrong("SUBQUERY(a, $b, c).@count > 0", 18, "Expected a comparison"), Wrong("a == ;", 6, "can't contain"),
      Wrong("a == $", 6, "name after '$'"), Wrong("a == CAST(b, 'NSFoo')", 6, "name of a type"),
      Wrong("a == CAST('x', 'NSUUID')", 6, "can't be cast"), Wrong("$a := 5", 4, "can't assign"),
      Wrong("a == {1, 2", 11, "',' or '}'"),
      Wrong("größe == é ==", 12, "Expected"), Wrong("a NOT == 1", 7, "after NOT"),
      Wrong("ANY a == 1 AND", 15, "Expected"),
      Wrong("ANY (a == 1 AND b == 2)", 5, "single comparison"), Wrong("ANY a NOT IN b", 5, "single comparison"),
      Wrong("a[1 == 2", 5, "']'"),
      Wrong("(a == 1) + 1 == 2", 10, "found '+'"), Wrong("a CONTAINS (b == 1)", 12, "found a predicate"),
      Wrong("FUNCTION(a, b) == 1", 10, "selector as a string"), Wrong("FETCH(a, b, c) == 1", 7, "YES or NO"),
    ])
  func column(_ wrong: Wrong) throws {
    let error = try #require(throws: PersistenceError.self) { try FetchPredicate(wrong.format) }
    #expect(error.code == .invalidPredicate)
    #expect(error.place.column == wrong.column, "\(error)")
    #expect(error.message.contains(wrong.says), "\(error)")
  }

  @Test("Arguments must match their placeholders, and each placeholder must have one")
  func arguments() throws {
    func fails(_ format: String, _ arguments: (any FetchArgument)?..., says: String) throws {
      let error = try #require(throws: PersistenceError.self) { try FetchPredicate(format, arguments: arguments) }
      #expect(error.message.contains(says), "\(error)")
    }
    try fails("a == 1", 5, says: "no placeholder for argument 1 of 1")
    try fails("a == %@", 1, 2, says: "no placeholder for argument 2 of 2")
    try fails("a == %d", "x", says: "isn't an integer")
    try fails("a == %d", 1.5, says: "isn't an integer")
    try fails("a == %f", "x", says: "isn't a number")
    try fails("%K == 1", 5, says: "isn't a key path")
    try fails("%K == 1", "a..b", says: "empty key")
    try fails("%K == 1", "", says: "empty key")
    try fails("%K == 1", "a.@foo", says: "no collection operator")
    try fails("a == %3$@", 1, says: "no argument 3")
  }

  @Test("Excessive nesting is refused, in every form")
  func depth() throws {
    let n = 100_000
    let deep = [
      String(repeating: "(", count: n), String(repeating: "(", count: n) + "a == 1" + String(repeating: ")", count: n),
      String(repeating: "NOT ", count: n) + "a == 1", "a == " + String(repeating: "-", count: n) + "1",
      "a == " + String(repeating: "{", count: n), "a == 1" + String(repeating: " - 1", count: n),
      "a == 2" + String(repeating: " ** 2", count: n), "a" + String(repeating: "[0]", count: n) + " == 1",
      "a == " + String(repeating: "abs:(", count: n), String(repeating: "SUBQUERY(a, $x, ", count: n),
      String(repeating: "TERNARY(", count: n), "a == " + String(repeating: "~", count: n) + "1",
      "a" + String(repeating: "[0].b", count: n) + " == 1", String(repeating: "ANY ", count: n) + "a == 1",
    ]
    for format in deep {
      let error = try #require(throws: PersistenceError.self) { try FetchPredicate(format) }
      #expect(error.code == .limitExceeded || error.code == .invalidPredicate)
    }
  }

  @Test("Nesting on both sides of operators is limited as a whole")
  func height() throws {
    var format = "1"
    for _ in 0..<90 { format = "(" + format + String(repeating: " + 1", count: 9) + ")" }
    let error = try #require(throws: PersistenceError.self) { try FetchExpression(format) }
    #expect(error.code == .limitExceeded)
  }

  @Test("Long but flat formats can be parsed")
  func breadth() throws {
    let n = 20_000
    let conjunction = try FetchPredicate(Array(repeating: "a == 1", count: n).joined(separator: " AND "))
    guard case .and(let parts) = conjunction else { throw PersistenceError(.invalidPredicate, "not a conjunction") }
    #expect(parts.count == n)
    _ = try FetchPredicate("a IN {" + (0..<n).map(String.init).joined(separator: ",") + "}")
    _ = try FetchPredicate(Array(repeating: "a", count: n).joined(separator: ".") + " == 1")
  }

  @Test("A tree of the maximum depth fits on the stack of a small thread")
  func smallStack() async throws {
    let n = FormatParser.depthLimit - 4
    let formats = [
      String(repeating: "NOT (", count: n / 2) + "a == 1" + String(repeating: ")", count: n / 2),
      "a == " + String(repeating: "abs:(", count: n) + "1" + String(repeating: ")", count: n),
      "a == 1" + String(repeating: " + 1", count: n),
      String(repeating: "SUBQUERY(a, $x, ", count: n / 2) + "b == 1" + String(repeating: ").@count > 0", count: n / 2),
    ]
    let failure: String? = await withCheckedContinuation { continuation in
      let thread = Thread {
        do {
          for format in formats {
            let tree = try FetchPredicate(format)
            guard try FetchPredicate(tree.format) == tree, Set([tree]).contains(tree) else {
              return continuation.resume(returning: tree.format)
            }
            let record = Record(["a": [1], "b": 1])
            _ = try ExpressionEvaluator().matches(tree, .object(record))
          }
          continuation.resume(returning: nil)
        } catch { continuation.resume(returning: "\(error)") }
      }
      thread.stackSize = 512 * 1024
      thread.start()
    }
    #expect(failure == nil)
  }
}
