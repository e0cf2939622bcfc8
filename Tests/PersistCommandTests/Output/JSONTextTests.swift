import Foundation
import Testing

@testable import PersistInspection

@Suite("JSON text")
struct JSONTextTests {
  @Test("Keys keep the order in which they are written, and nesting places every comma")
  func order() {
    var json = JSONText()
    json.object {
      $0.field("b", "x")
      $0.field("a", of: [1, 2]) { $0.value($1) }
      $0.key("empty")
      $0.object { _ in }
      $0.key("inner")
      $0.array { inner in
        inner.array { _ in }
        inner.object { $0.field("none", nil as String?) }
        inner.null()
      }
      $0.field("end", true)
    }
    #expect(
      json.string == #"{"b": "x", "a": [1, 2], "empty": {}, "inner": [[], {"none": null}, null], "end": true}"#)
  }

  @Test(
    "A double reads back to the same value",
    arguments: [
      0.1, -0.0, 1, 569_187_350.058821, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e21, 1 / 3,
      123_456_789_012_345_680, .infinity, -.infinity,
    ])
  func double(_ value: Double) throws {
    var json = JSONText()
    json.value(value)
    let read = try #require(Double(json.string))
    #expect(read.bitPattern == value.bitPattern)
  }

  @Test("The smallest and largest integers are exact")
  func integers() {
    var json = JSONText()
    json.array(of: [Int64.min, Int64.max]) { $0.value($1) }
    #expect(json.string == "[-9223372036854775808, 9223372036854775807]")
  }

  @Test("Every control character, quote and backslash is escaped and reads back", arguments: 0..<0x100)
  func strings(_ code: UInt32) throws {
    let text = "a\(try #require(UnicodeScalar(code)))é😀\""
    var json = JSONText()
    json.array(of: [text]) { $0.value($1) }
    let read = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String]
    #expect(read == [text])
    #expect(!json.bytes.contains { $0 < 0x20 })
  }

  @Test("A reused buffer starts empty")
  func reset() {
    var json = JSONText()
    json.value("a")
    json.reset()
    json.value("b")
    #expect(json.string == #""b""#)
  }
}
