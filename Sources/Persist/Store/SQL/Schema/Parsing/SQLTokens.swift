/// SQL as words and punctuation marks; texts, quoted names and comments are skipped or returned as one token each.
///
/// Like SQLite, it splits SQL by bytes: a combining mark after a quotation mark isn't part of the quotation mark.
package struct SQLTokens: Sequence, IteratorProtocol {
  private var rest: Substring.UTF8View

  init(_ sql: String) { rest = sql[...].utf8 }

  package mutating func next() -> Substring? {
    while true {
      rest = rest.drop(while: Self.isSpace)
      guard let first = rest.first else { return nil }
      switch first {
      case UInt8(ascii: "-") where rest.starts(with: "--".utf8):
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      case UInt8(ascii: "/") where rest.starts(with: "/*".utf8):
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) {
          rest = rest.dropFirst().drop { $0 != UInt8(ascii: "*") }
        }
        rest = rest.dropFirst(2)
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(upTo: first)
      case UInt8(ascii: "["): return quoted(upTo: UInt8(ascii: "]"))
      default:
        let word = rest.prefix(while: Self.isWord)
        let token = word.isEmpty ? rest.prefix(1) : word
        rest = rest[token.endIndex...]
        return Substring(token)
      }
    }
  }

  /// A doubled quote ends one text and begins the next, with the same result.
  private mutating func quoted(upTo end: UInt8) -> Substring {
    let text = rest
    rest = rest.dropFirst().drop { $0 != end }.dropFirst()
    return Substring(text[..<rest.startIndex])
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// Whether a byte may be part of a name, a keyword or a number. All bytes of non-ASCII characters may.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
      true
    default: false
    }
  }
}

extension SQLTokens {
  /// A token as SQL compares it: folded, and a name without its quotes; nil for a literal text.
  @inline(never)
  static func folded(_ token: Substring) -> String? {
    token.utf8.first == UInt8(ascii: "'") ? nil : unquoted(token).foldedIdentifier
  }

  /// A name without its quotes.
  static func unquoted(_ name: Substring) -> String {
    switch name.utf8.first {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
      String(Substring(name.utf8.dropFirst().dropLast()))
    default: String(name)
    }
  }

  /// Whether a token is a name without quotes, or a keyword.
  static func isPlainName(_ token: Substring) -> Bool {
    guard let first = token.utf8.first else { return false }
    return isWord(first) && first != UInt8(ascii: "$") && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  }

  /// Whether a definition contains a name, outside of texts and comments.
  package static func mentions(_ name: String, in sql: String) -> Bool {
    let wanted = name.foldedIdentifier
    return SQLTokens(sql).contains { folded($0) == wanted }
  }

  /// Whether the letters of a keyword occur anywhere in a definition, which is quicker to find than its tokens.
  ///
  /// - Parameter keyword: In lower case.
  package static func mayMention(_ keyword: StaticString, in sql: String) -> Bool {
    let count = keyword.utf8CodeUnitCount
    var sql = sql
    return sql.withUTF8 { bytes in
      var start = 0
      while start + count <= bytes.count {
        var length = 0
        while length < count, bytes[start + length] | 0x20 == keyword.utf8Start[length] { length += 1 }
        if length == count { return true }
        start += 1
      }
      return false
    }
  }
}

extension StoreSchema.Trigger {
  /// Whether the trigger's definition contains a name.
  func mentions(_ name: String) -> Bool { SQLTokens.mentions(name, in: sql) }

  /// Whether the trigger is one of Core Data's that may maintain a column of derived values.
  package func mayMaintain(_ column: String, of table: String) -> Bool {
    keepsDerivedValuesOfOthers && mentions(column) && mentions(table)
  }
}
