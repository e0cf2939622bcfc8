/// The pattern of `LIKE`: `*` matches any number of characters, `?` matches one, a backslash escapes either.
///
/// - Complexity: Matching takes at most the product of the lengths of text and pattern, and constant additional memory.
package struct WildcardPattern: Sendable {
  private enum Part: Sendable, Equatable {
    case any
    case one
    case character(Character)
  }

  private let parts: [Part]
  private let comparison: TextComparison

  package init(_ pattern: String, options: FetchPredicate.Options) {
    // Locale rules don't apply to patterns.
    comparison = TextComparison(options.subtracting(.localeSensitive))
    var parts: [Part] = []
    var isEscaped = false
    for character in comparison.folded(pattern) {
      switch character {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped: if parts.last != .any { parts.append(.any) }
      case "?" where !isEscaped: parts.append(.one)
      default: parts.append(.character(character))
      }
      isEscaped = false
    }
    if isEscaped { parts.append(.character("\\")) }
    self.parts = parts
  }

  /// The pattern of SQL's `LIKE`, with a backslash as its escape, for texts of ASCII characters.
  package var sqlPattern: String {
    parts.map { part in
      switch part {
      case .any: "%"
      case .one: "_"
      case .character("%"): "\\%"
      case .character("_"): "\\_"
      case .character("\\"): "\\\\"
      case .character(let character): String(character)
      }
    }.joined()
  }

  package func matches(_ text: String) -> Bool {
    let characters = Array(comparison.folded(text))
    var (index, part) = (0, 0)
    // The position to resume from when the part after the last `*` doesn't match: one character later.
    var retry: (index: Int, part: Int)?
    while index < characters.count {
      if part < parts.count, parts[part] == .any {
        part += 1
        retry = (index, part)
      } else if part < parts.count, accepts(parts[part], characters[index]) {
        index += 1
        part += 1
      } else if let last = retry {
        retry = (last.index + 1, last.part)
        (index, part) = (last.index + 1, last.part)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .any }
  }

  /// Compares characters by their scalars: composed and decomposed ones are equal in Swift, but not here.
  private func accepts(_ part: Part, _ character: Character) -> Bool {
    switch part {
    case .any: false
    case .one: true
    case .character(let expected): expected.unicodeScalars.elementsEqual(character.unicodeScalars)
    }
  }
}
