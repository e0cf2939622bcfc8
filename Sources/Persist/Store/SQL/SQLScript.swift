package import Foundation

/// SQL written by an application: any number of statements, which SQLite itself separates.
///
/// SQLite parses one statement and reports its end. Therefore neither the statements within a trigger nor semicolons in
/// texts and comments are mistaken for an end.
///
/// - SeeAlso: <https://sqlite.org/c3ref/prepare.html>
package struct SQLScript: Sendable {
  /// The text with a terminating zero: without one SQLite would copy the rest of the text for each statement.
  package let bytes: [UInt8]
  package let range: Range<Int>
  /// The file that errors name.
  let file: URL?

  /// - Parameters:
  ///   - text: UTF-8 without zeros.
  ///   - range: The part to run; nil for all. Lines are still counted from the beginning of the text.
  package init(_ text: [UInt8], range: Range<Int>? = nil, file: URL? = nil) {
    precondition(!text.contains(0), "SQLite would treat a NUL character as the end of the text.")
    self.range = range ?? 0..<text.count
    bytes = text[..<self.range.upperBound] + [0]
    self.file = file
  }

  package init(_ text: String) { self.init(Array(text.utf8)) }

  /// Whether there is nothing to run: only space and comments.
  package var isEmpty: Bool { firstWord(from: range.lowerBound) >= range.upperBound }

  /// The error with the position of an index in the text, and an excerpt of the statement.
  package func placed(_ error: PersistenceError, at index: Int, in statement: Range<Int>) -> PersistenceError {
    var error = error
    let place = PersistenceError.Place(file: file, index: index, in: Data(bytes.dropLast()))
    (error.place.file, error.place.line, error.place.column) = (place.file, place.line, place.column)
    error.place.sql = Self.excerpt(of: bytes[statement])
    return error
  }

  private static let longestExcerpt = 160

  private static func excerpt(of text: ArraySlice<UInt8>) -> String {
    let start = String(decoding: text.prefix(longestExcerpt), as: UTF8.self)
    return text.count > longestExcerpt ? start + "…" : start.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The visible start of the next statement: after whitespace and comments, which SQLite includes in it.
  package func firstWord(from position: Int) -> Int {
    var index = position
    while index < range.upperBound {
      let next = index + 1 < range.upperBound ? bytes[index + 1] : 0
      switch bytes[index] {
      case UInt8(ascii: " "), 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: ";"): index += 1
      case UInt8(ascii: "-") where next == UInt8(ascii: "-"):
        index = bytes[index..<range.upperBound].firstIndex(of: 0x0A) ?? range.upperBound
      case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
        index = Self.endOfComment(in: bytes[..<range.upperBound], from: index + 2) ?? range.upperBound
      default: return index
      }
    }
    return index
  }

  /// The end of a comment between `/*` and `*/`; nil if it doesn't end.
  ///
  /// - Parameter start: The index after the comment's opening mark.
  package static func endOfComment(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
    var index = start
    while index + 1 < text.endIndex {
      if text[index] == UInt8(ascii: "*"), text[index + 1] == UInt8(ascii: "/") { return index + 2 }
      index += 1
    }
    return nil
  }
}
