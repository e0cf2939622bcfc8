import Persist

/// The lines of SQL that begin with a comment, as SQLite reads them: not those within texts, quoted names and comments
/// between `/*` and `*/`.
struct SQLCommentLines {
  /// A line with its number, starting from 1.
  struct Line: Sendable, Hashable {
    let number: Int
    let range: Range<Int>
  }

  /// A text, a quoted name or a comment that doesn't end.
  struct Unfinished: Sendable, Hashable {
    /// The number of the line in which it begins.
    let number: Int
    /// The lines within it that look like comments.
    let lines: [Line]
  }

  private(set) var lines: [Line] = []
  private(set) var unfinished: Unfinished?

  init(_ text: [UInt8]) {
    var index = 0
    var number = 1
    while index < text.count {
      let found: Int?
      switch text[index] {
      case UInt8(ascii: "-") where text[index...].starts(with: Self.mark):
        let lineEnd = Self.endOfLine(in: text, from: index)
        if index == 0 || text[index - 1] == Self.newline { lines.append(Line(number: number, range: index..<lineEnd)) }
        index = lineEnd
        continue
      case UInt8(ascii: "/") where text[index...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "*")]):
        found = SQLScript.endOfComment(in: text[...], from: index + 2)
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        // A doubled quote ends one text and begins the next, with the same result.
        found = text[(index + 1)...].firstIndex(of: text[index]).map { $0 + 1 }
      case UInt8(ascii: "["): found = text[(index + 1)...].firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
      default:
        if text[index] == Self.newline { number += 1 }
        index += 1
        continue
      }
      guard let end = found else {
        unfinished = Unfinished(number: number, lines: Self.lines(of: text, after: index, number))
        return
      }
      number += text[index..<end].lazy.filter { $0 == Self.newline }.count
      index = end
    }
  }

  private static let newline: UInt8 = 0x0A
  private static let mark = [UInt8(ascii: "-"), UInt8(ascii: "-")]

  private static func endOfLine(in text: [UInt8], from index: Int) -> Int {
    text[index...].firstIndex(of: newline) ?? text.count
  }

  /// The lines after a position that begin with a mark of a comment, wherever they are.
  private static func lines(of text: [UInt8], after index: Int, _ number: Int) -> [Line] {
    var found: [Line] = []
    var number = number
    var start = endOfLine(in: text, from: index) + 1
    while start < text.count {
      number += 1
      let end = endOfLine(in: text, from: start)
      if text[start..<end].starts(with: mark) { found.append(Line(number: number, range: start..<end)) }
      start = end + 1
    }
    return found
  }
}
