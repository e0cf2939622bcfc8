import Foundation
import Testing

@testable import Persist

@Suite("Reading and writing JSON")
struct JSONReaderTests {
  private func value(_ text: String) throws -> JSONValue { try JSONReader.value(in: Data(text.utf8)) }

  @Test("Values, numbers' texts and the order of members are kept")
  func reads() throws {
    #expect(
      try value(#" {"b": [1, -0.50e+3, true, null], "a": "x\n\u00e9\uD83D\uDE00\"\\\/"} "#)
        == .object([
          .init("b", .array([.number("1"), .number("-0.50e+3"), .boolean(true), .null])),
          .init("a", .string("x\né😀\"\\/")),
        ]))
  }

  @Test("What is written reads back", arguments: [
    JSONValue.array([.string("\u{1}\u{2028}\"\\\t"), .object([]), .array([]), .number("1")]),
    .double(0.1), .double(-0.0), .double(1e300), .double(5), .double(.greatestFiniteMagnitude),
    .object([.init(String(repeating: "k", count: 90), .array([.string(String(repeating: "v", count: 90))]))]),
  ])
  func roundTrip(value: JSONValue) throws {
    #expect(try JSONReader.value(in: Data(value.readableText.utf8)) == value)
    if case .number(let text) = value { #expect(Double(text) != nil) }
  }

  @Test(
    "What isn't JSON is refused with line and column",
    arguments: [
      "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "01", "1.", "-", "nul", "\"\u{1}\"", "\"\\x\"", "\"\\uD800\"",
      "\"\\uD800\\u0041\"", "\"\\u12\"", "[1] 2", "{a: 1}", "// x\n1", "\"",
    ])
  func malformed(text: String) {
    let error = #expect(throws: PersistError.self) { try value(text) }
    #expect(error?.code == .malformedFile)
    #expect(error?.place.line != nil && error?.place.column != nil)
  }

  @Test("Depth is bounded, and bytes that are no text are refused")
  func bounds() {
    let deep = #expect(throws: PersistError.self) { try value(String(repeating: "[", count: 1_000_000)) }
    #expect(deep?.code == .limitExceeded)
    #expect(throws: PersistError.self) { try JSONReader.value(in: Data([0x22, 0xFF, 0x22])) }
  }
}
