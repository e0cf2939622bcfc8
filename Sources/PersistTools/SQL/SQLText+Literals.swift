import Foundation
package import Persist

extension SQLText {
  /// The statement with its values as literals, for programs that can't bind them.
  package var withLiterals: String {
    guard !values.isEmpty else { return text }
    var result = ""
    // A quotation mark before a combining mark is another `Character`.
    var rest = text.unicodeScalars[...]
    var next = 0
    while let start = rest.firstIndex(where: { $0 == "?" || $0 == "'" || $0 == "\"" }) {
      result.unicodeScalars += rest[..<start]
      let after = rest[rest.index(after: start)...]
      if rest[start] == "?" {
        let digits = after.prefix { ("0"..."9").contains($0) }
        let position = Int(String(digits)).map { $0 - 1 } ?? next
        precondition(values.indices.contains(position), "Each parameter of a statement has a value.")
        next = position + 1
        result += values[position].literal
        rest = after[digits.endIndex...]
      } else {
        let end = after.firstIndex(of: rest[start]).map { after.index(after: $0) } ?? after.endIndex
        result.unicodeScalars += rest[start..<end]
        rest = rest[end...]
      }
    }
    result.unicodeScalars += rest
    return result
  }
}

extension SQLValue {
  /// The value as SQLite parses it back.
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(.min): "(-9223372036854775807 - 1)"
    case .integer(let value): String(value)
    case .double(let value) where value.isInfinite: value < 0 ? "-9e999" : "9e999"
    case .double(let value): ("\(real: value)" as SQLText).text
    // The program reads lines: control characters would end one, or the whole text.
    case .text(let text) where text.unicodeScalars.contains { $0.properties.generalCategory == .control }:
      ("CAST(\(bytes: text.utf8) AS TEXT)" as SQLText).text
    case .text(let text): ("\(literal: text)" as SQLText).text
    case .blob(let data): ("\(bytes: data)" as SQLText).text
    }
  }
}
