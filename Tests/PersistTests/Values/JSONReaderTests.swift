import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Reading and writing JSON")
struct JSONReaderTests {
  private func value(_ text: String) throws -> JSONElement { try JSONReader.value(in: Data(text.utf8)) }

  @Test("Values of every kind are read, numbers exactly")
  func reads() throws {
    #expect(
      try value(#" {"b": [1, -0.50e+3, 0.1, true, null], "a": "x\n\u00e9\uD83D\uDE00\"\\\/"} "#)
        == .object([
          "b": .array([.integer(1), .integer(-500), .number(0.1), .boolean(true), .null]),
          "a": .string("x\né😀\"\\/"),
        ]))
    #expect(
      try value("[9223372036854775807, -9223372036854775808, 9223372036854775808]")
        == .array([.integer(.max), .integer(.min), .decimal(Decimal(UInt64(1) << 63))]))
  }

  @Test("Written JSON is read back unchanged", arguments: [
    JSONElement.array([.string("\u{1}\u{2028}\"\\\t/"), .object([:]), .array([]), .integer(1), .integer(.min)]),
    .double(0.1), .double(-0.0), .double(1e300), .double(5), .double(.greatestFiniteMagnitude), .double(1e18),
    .double(123_456_789_012_345_680), .double(.leastNonzeroMagnitude),
    .object([String(repeating: "k", count: 90): .array([.string(String(repeating: "v", count: 90))])]),
  ])
  func roundTrip(value: JSONElement) throws {
    let back = try JSONReader.value(in: Data(value.text.utf8))
    #expect(back == value)
    if case .number(let number) = value, case .number(let same) = back {
      #expect(number.bitPattern == same.bitPattern)
    }
  }

  @Test("Keys are written in order, whatever their original order")
  func canonical() throws {
    let text = "{\n  \"B\" : 1,\n  \"a\" : 2,\n  \"a10\" : {\n    \"é\" : null\n  },\n  \"a9\" : \"x\\/\"\n}\n"
      .replacingOccurrences(of: "\\/", with: "/")
    #expect(try value(#"{"a9": "x/", "a10": {"é": null}, "a": 2, "B": 1}"#).text == text)
  }

  @Test("A duplicate key is refused at its place, however it is written")
  func duplicates() {
    for text in [#"{"a": [{"b": 1, "c": 2}], "a": 1}"#, #"{"a": [], "\u0061": 1}"#] {
      let error = #expect(throws: PersistenceError.self) { try value("\n" + text) }
      #expect(error?.message.contains("'a' occurs twice") == true)
      #expect(error?.place.line == 2)
    }
  }

  @Test(
    "Text that isn't JSON is refused with line and column",
    arguments: [
      "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "01", "1.", "-", "nul", "\"\u{1}\"", "\"\\x\"", "\"\\uD800\"",
      "\"\\uD800\\u0041\"", "\"\\u12\"", "[1] 2", "{a: 1}", "// x\n1", "\"",
    ])
  func malformed(text: String) {
    let error = #expect(throws: PersistenceError.self) { try value(text) }
    #expect(error?.code == .malformedFile)
    #expect(error?.place.line != nil && error?.place.column != nil)
  }

  @Test("Depth is limited, and bytes that aren't text are refused")
  func bounds() {
    let deep = #expect(throws: PersistenceError.self) { try value(String(repeating: "[", count: 1_000_000)) }
    #expect(deep?.code == .limitExceeded)
    #expect(throws: PersistenceError.self) { try JSONReader.value(in: Data([0x22, 0xFF, 0x22])) }
  }
}
