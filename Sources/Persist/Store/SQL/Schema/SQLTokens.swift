/// SQL as words and punctuation marks; texts, quoted names and comments are skipped or returned as one token each.
struct SQLTokens: Sequence, IteratorProtocol {
  private var rest: Substring

  init(_ sql: String) { rest = sql[...] }

  mutating func next() -> Substring? {
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard let first = rest.first else { return nil }
      switch first {
      case "-" where rest.hasPrefix("--"):
        rest = rest.drop { !$0.isNewline }
      case "/" where rest.hasPrefix("/*"):
        rest = rest.dropFirst(2)
        while let next = rest.first, !rest.hasPrefix("*/") || next != "*" { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
      case "'", "\"", "`", "[":
        return quoted(upTo: first == "[" ? "]" : first)
      default:
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
        let token = word.isEmpty ? rest.prefix(1) : word
        rest = rest[token.endIndex...]
        return token
      }
    }
  }

  /// A doubled quote ends one text and begins the next, with the same result.
  private mutating func quoted(upTo end: Character) -> Substring {
    let start = rest.startIndex
    rest = rest.dropFirst().drop { $0 != end }.dropFirst()
    return rest.base[start..<rest.startIndex]
  }
}

extension SQLTokens {
  /// A token as SQL compares it: folded, and a name without its quotes; nil for a literal text.
  static func folded(_ token: Substring) -> String? {
    switch token.first {
    case "'": nil
    case "\"", "`", "[": String(token.dropFirst().dropLast()).foldedIdentifier
    default: String(token).foldedIdentifier
    }
  }

  /// Whether a definition contains a name, outside of texts and comments.
  static func mentions(_ name: String, in sql: String) -> Bool {
    let wanted = name.foldedIdentifier
    return SQLTokens(sql).contains { folded($0) == wanted }
  }

  /// Whether the letters of a keyword occur anywhere in a definition, which is quicker to find than its tokens.
  ///
  /// - Parameter keyword: In lower case.
  static func mayMention(_ keyword: StaticString, in sql: String) -> Bool {
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
}
