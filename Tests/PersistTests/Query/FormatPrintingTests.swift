import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// The law: printed predicates parse to the same tree.
@Suite("Trees print as format strings")
struct FormatPrintingTests {
  @Test("Every sample parses, prints, and parses back to the same tree", arguments: FormatSamples.all)
  func printsBack(_ format: String) throws {
    let tree = try FetchPredicate(format)
    let printed = tree.format
    #expect(try FetchPredicate(printed) == tree, "\(printed)")
    #expect(try FetchPredicate(printed).format == printed)
  }

  @Test("A predicate survives coding as JSON", arguments: ["a == 1 AND b ==[cd] \"x\"",
  "SUBQUERY(a, $b, $b.c == 1).@count > 0"])
  func coding(_ format: String) throws {
    let tree = try FetchPredicate(format)
    let data = try JSONEncoder().encode([tree])
    #expect(try JSONDecoder().decode([FetchPredicate].self, from: data) == [tree])
    let expression = try FetchExpression("a + b[0].c")
    #expect(try JSONDecoder().decode([FetchExpression].self, from: JSONEncoder().encode([expression])) == [expression])
  }

  @Test("Printing is plain, with the same parentheses as NSPredicate's")
  func plain() throws {
    let forms = [
      "((a = 1))and(b='x')": #"a == 1 AND b == "x""#,
      "a==1 or b==2 and c==3": "a == 1 OR (b == 2 AND c == 3)",
      "not (a==1 and b==2) and (c==3 or not d==4)": "NOT (a == 1 AND b == 2) AND (c == 3 OR NOT d == 4)",
      "(a==1 or b==2) and !(c==3)": "(a == 1 OR b == 2) AND NOT c == 3",
      "(a + b) * (c * d) = e": "(a + b) * (c * d) == e",
      "none a.b =[dc] 'x'": #"NOT ANY a.b ==[cd] "x""#,
      "a.#in = #\"x y\"": "a.#in == #\"x y\"",
      "cast(1, 'date') > now()": "CAST(1.0, \"NSDate\") > now()",
    ]
    for (format, printed) in forms { #expect(try FetchPredicate(format).format == printed) }
  }

  @Test("Values of every type print as literals")
  func literals() throws {
    let id = ManagedObjectID(entityName: "Item", storeIdentifier: "A1-B2", key: .permanent(7))
    let values: [StoredValue] = [
      .null, .boolean(true), .boolean(false), .integer(.max), .integer(.min), .double(0.1), .double(-1e300),
      .double(.leastNonzeroMagnitude),
      .double(.infinity), .double(-.infinity), .double(-0.0),
      .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0),
      .decimal(-5), .decimal(Decimal(sign: .plus, exponent: 100, significand: 7)),
      .string("\u{1}\u{7f}\"'\\ \u{301}é😀\r\n"),
      .date(Date(timeIntervalSinceReferenceDate: 569_187_350.058821)), .date(.distantPast), .data(Data([0, 1, 255])),
      .data(Data()),
      .uuid(UUID()), .uri("https://example.com/ä?x=\"y\""), .objectID(id),
      .objectID(ManagedObjectID(temporaryFor: "Item")),
      .composite(["x": .double(1), "y": .composite(["z": .null])]),
    ]
    for value in values {
      let tree = FetchPredicate.compare(.constant(value), .equal, .function(.power, [.constant(value),
      .constant(value)]))
      #expect(try FetchPredicate(tree.format) == tree, "\(tree.format)")
    }
  }
}
