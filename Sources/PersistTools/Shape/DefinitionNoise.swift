import Foundation
import Persist

/// Replaces the texts in definitions of tables, indexes, views and triggers by noise, and removes comments.
///
/// A text equal to a value becomes the value's noise, so that conditions still apply to the same rows. Names remain, in
/// texts too: those of the models and of the schema, and words with which SQLite's functions are called.
struct DefinitionNoise {
  /// Folded names, which remain.
  private let names: Set<String>

  init(_ models: [ManagedObjectModel], _ schema: StoreSchema) {
    var names = schema.tables.flatMap { [$0.name] + $0.columns.map(\.name) }
    names += schema.indexes.map(\.name) + schema.triggers.map(\.name) + schema.views.compactMap(Self.name)
    for model in models {
      for entity in model.entities { names += [entity.name] + entity.properties.map(\.name) }
    }
    self.names = Set(names.map(\.foldedIdentifier))
  }

  /// The name in the definition of a view.
  private static func name(of view: StoreSchema.View) -> String? {
    let words = view.sql.split(maxSplits: 3, omittingEmptySubsequences: true, whereSeparator: \.isWhitespace)
    return words.count > 2 ? words[2].trimmingCharacters(in: CharacterSet(charactersIn: "\"`[]'")) : nil
  }

  func definition(_ sql: String, _ noise: inout Noise) -> String {
    let bytes = Array(sql.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      switch byte {
      case UInt8(ascii: "-") where next == byte:
        index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
        index = SQLScript.endOfComment(in: bytes[...], from: index + 2) ?? bytes.count
        result.append(UInt8(ascii: " "))
      case UInt8(ascii: "'"):
        let (text, end) = Self.quoted(bytes, from: index)
        if Self.endsWithBlobMark(result) {
          result += Self.quoted(Self.hexNoise(text, &noise), by: byte)
        } else {
          result += Self.quoted(isKept(text) ? text : noise.text(text), by: byte)
        }
        index = end
      case UInt8(ascii: "\""):
        // SQLite takes what isn't the name of a column for a text.
        let (text, end) = Self.quoted(bytes, from: index)
        result += Self.quoted(isKept(text) ? text : noise.text(text), by: byte)
        index = end
      case UInt8(ascii: "`"), UInt8(ascii: "["):
        let mark = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
        let end = bytes[(index + 1)...].firstIndex(of: mark).map { $0 + 1 } ?? bytes.count
        result += bytes[index..<end]
        index = end
      default:
        result.append(byte)
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func isKept(_ text: String) -> Bool {
    names.contains(text.foldedIdentifier) || Self.isOfDates(text.lowercased())
  }

  /// Whether a text is a format or a modifier of the functions of dates and times.
  private static func isOfDates(_ text: String) -> Bool {
    text.wholeMatch(of: /(?:%[a-z][-:\/ t.]*)+/) != nil
      || text.wholeMatch(of: /[+-]?[0-9.]+ (?:second|minute|hour|day|month|year)s?|weekday [0-6]/) != nil
      || [
        "now", "utc", "localtime", "auto", "subsecond", "subsec", "unixepoch", "julianday", "start of day",
        "start of month", "start of year",
      ].contains(text)
  }

  private static func quoted(_ bytes: [UInt8], from start: Int) -> (text: String, end: Int) {
    let mark = bytes[start]
    var (text, index): ([UInt8], Int) = ([], start + 1)
    while index < bytes.count {
      if bytes[index] == mark {
        guard index + 1 < bytes.count, bytes[index + 1] == mark else { break }
        index += 1
      }
      text.append(bytes[index])
      index += 1
    }
    return (String(decoding: text, as: UTF8.self), min(index + 1, bytes.count))
  }

  private static func quoted(_ text: String, by mark: UInt8) -> [UInt8] {
    [mark] + text.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] } + [mark]
  }

  /// Whether the text that follows consists of hexadecimal digits of bytes, as in `x'01'`.
  private static func endsWithBlobMark(_ bytes: [UInt8]) -> Bool {
    guard let last = bytes.last, last | 0x20 == UInt8(ascii: "x") else { return false }
    guard let before = bytes.dropLast().last else { return true }
    return !(before >= 0x80 || before == UInt8(ascii: "_") || before == UInt8(ascii: "$")
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(before)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(before | 0x20))
  }

  private static func hexNoise(_ digits: String, _ noise: inout Noise) -> String {
    let digits = Array(digits.utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
    }
    guard !bytes.isEmpty else { return "" }
    let seed = noise.seedOfBytes(Data(bytes))
    return NoiseText.bytes(count: bytes.count, seed: seed).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
