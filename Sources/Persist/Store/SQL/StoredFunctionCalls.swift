/// The functions that a definition in a store calls, found without understanding SQL.
struct StoredFunctionCalls {
  /// One name, and whether what it gives is used anywhere.
  struct Call: Hashable {
    let name: String
    /// It stands right behind a `SELECT` that is a statement of its own in a trigger: its result goes nowhere.
    let isForEffect: Bool
  }

  private(set) var calls: Set<Call> = []

  /// - Parameter isTrigger: false for an index, view or table, where nothing runs for its effect.
  init(in definition: StoredDefinition, isTrigger: Bool) {
    // A table's name before its columns is no call.
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

/// SQL as words and marks; texts, quoted names and comments are left out as one mark each.
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

  /// A doubled mark ends one text and begins the next, which comes to the same.
  private mutating func quoted(upTo end: Character) -> Substring {
    let start = rest.startIndex
    rest = rest.dropFirst().drop { $0 != end }.dropFirst()
    return rest.base[start..<rest.startIndex]
  }
}

extension StoreSchema.Trigger {
  /// Whether its text names something.
  func mentions(_ name: String) -> Bool {
    let wanted = name.foldedIdentifier
    for token in SQLTokens(sql) {
      let plain = token.first?.isLetter == true ? token : token.dropFirst().dropLast()
      if String(plain).foldedIdentifier == wanted { return true }
    }
    return false
  }
}
