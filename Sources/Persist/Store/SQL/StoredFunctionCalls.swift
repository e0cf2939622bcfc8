/// The functions called by a definition in a store, found without parsing SQL.
struct StoredFunctionCalls {
  /// One name, and whether its result is discarded.
  struct Call: Hashable {
    let name: String
    /// Whether it directly follows a `SELECT` that is its own statement in a trigger, so that its result is discarded.
    let isForEffect: Bool
  }

  private(set) var calls: Set<Call> = []

  /// - Parameter isTrigger: False for an index, view or table, which can't discard results.
  init(in definition: StoredDefinition, isTrigger: Bool) {
    // A table's name before its columns isn't a call.
    let beforeTables: Set<String> = isTrigger ? ["INTO"] : ["INTO", "ON", "TABLE", "REFERENCES"]
    var previous: Substring?
    var beforePrevious: Substring?
    for token in SQLTokens(definition.sql) {
      defer {
        beforePrevious = previous
        previous = token
      }
      if token == "(", let name = previous, let first = name.first, first.isLetter || first == "_" {
        let before = beforePrevious?.uppercased() ?? ""
        if beforeTables.contains(before) { continue }
        let behindSelect = before == "SELECT"
        calls.insert(Call(name: String(name), isForEffect: isTrigger && behindSelect && startsStatement))
      }
      if token.uppercased() == "SELECT" {
        startsStatement = previous == ";" || previous?.uppercased() == "BEGIN"
      }
    }
  }

  /// Whether the last `SELECT` began a statement of the trigger.
  private var startsStatement = false
}

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

extension StoreSchema.Trigger {
  /// Whether the trigger's text contains a name.
  func mentions(_ name: String) -> Bool {
    let wanted = name.foldedIdentifier
    for token in SQLTokens(sql) {
      let plain = token.first?.isLetter == true ? token : token.dropFirst().dropLast()
      if String(plain).foldedIdentifier == wanted { return true }
    }
    return false
  }
}
