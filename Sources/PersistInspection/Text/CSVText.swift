import Foundation
package import Persist

/// Comma-separated values in the format of RFC 4180, except that lines end in line feeds.
///
/// - SeeAlso: <https://www.rfc-editor.org/rfc/rfc4180>
package enum CSVText {
  package static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\n" }

  /// A line in which null and the empty text differ: nothing, or a pair of quotation marks.
  package static func line(_ cells: [String?]) -> String {
    cells.map { $0.map { $0.isEmpty ? "\"\"" : cell($0) } ?? "" }.joined(separator: ",") + "\n"
  }

  /// Whether a byte is a quotation mark, a comma or the end of a line.
  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x2C, 0x0A, 0x0D: true
    default: false
    }
  }

  private static func cell(_ text: String) -> String {
    guard text.utf8.contains(where: isSpecial) else { return text }
    return "\"" + text.doubling("\"") + "\""
  }

  /// A value in a form that can be read back, nil for null and NaN: bytes in base64, an object as its URI, a composite
  /// as JSON. A date that ISO 8601 in microseconds can't represent exactly is a number of seconds since 2001.
  package static func text(_ value: StoredValue) -> String? {
    switch value {
    case .double(let number) where number.isNaN: nil
    case .date(let date) where date.timeIntervalSinceReferenceDate.isNaN: nil
    case .date(let date): DateText.exactISO8601(date) ?? date.timeIntervalSinceReferenceDate.description
    case .data(let value): value.base64EncodedString()
    case .composite: json(value)
    default: ValueText.text(value)
    }
  }

  private static func json(_ value: StoredValue) -> String {
    var json = JSONText()
    json.value(value)
    return json.string
  }
}
