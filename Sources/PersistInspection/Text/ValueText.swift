import Foundation
package import Persist

/// Values as texts that lose nothing: exact numbers, dates in ISO 8601.
package enum ValueText {
  /// The text of a value; nil for null. Bytes are in hexadecimal digits.
  package static func text(_ value: StoredValue) -> String? {
    switch value {
    case .null: nil
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .string(let value), .uri(let value): value
    case .date(let value): DateText.iso8601(value)
    case .data(let value): value.hexadecimalDigits
    case .uuid(let value): value.uuidString
    case .objectID(let value): value.description
    case .composite(let elements):
      elements.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value) ?? "–")" }.joined(separator: ", ")
    }
  }
}
