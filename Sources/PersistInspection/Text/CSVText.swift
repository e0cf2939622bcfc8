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

  /// A value in a form that can be read back: dates in ISO 8601, bytes in base64, an object as its URI, a composite as
  /// JSON. Null and empty texts are both empty.
  package static func text(_ value: StoredValue?) -> String {
    switch value {
    case nil, .null?: ""
    case .boolean(let value)?: value ? "true" : "false"
    case .integer(let value)?: String(value)
    case .double(let value)?: value.description
    case .decimal(let value)?: value.description
    case .string(let value)?, .uri(let value)?: value
    case .date(let value)?: DateText.iso8601(value)
    case .data(let value)?: value.base64EncodedString()
    case .uuid(let value)?: value.uuidString
    case .objectID(let value)?: value.description
    case .composite(let elements)?: json(.composite(elements))
    }
  }

  private static func json(_ value: StoredValue) -> String {
    var json = JSONText()
    json.value(value)
    return json.string
  }
}
