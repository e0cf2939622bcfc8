/// Natural sort order: `Model` before `Model 2` before `Model 10`.
enum NaturalOrder {
  /// Whether one name comes before another: numbers compare by value and letters without regard to case, and separators
  /// between numbers and letters are ignored, so that `V22` comes before `V 23`; names that are equal so far are
  /// compared by their characters.
  static func precedes(_ left: String, _ right: String) -> Bool {
    var (first, second) = (parts(left)[...], parts(right)[...])
    while let one = first.popFirst(), let other = second.popFirst() {
      if one != other { return one < other }
    }
    if first.isEmpty != second.isEmpty { return first.isEmpty }
    return left < right
  }

  /// Splits a name into the numbers at its end and the rest, which all names of a series share.
  static func number(atEndOf name: String) -> (series: String, parts: [String]) {
    let parts = parts(name)
    let end = parts.lastIndex(where: \.isText).map { $0 + 1 } ?? 0
    return (parts[..<end].map(\.text).joined(separator: " "), parts[end...].map(\.text))
  }

  /// A run of digits without leading zeros, or a run of other characters.
  private enum Part: Comparable {
    case text(String)
    case number(digits: String)

    var isText: Bool { if case .text = self { true } else { false } }

    var text: String {
      switch self {
      case .text(let text): text
      case .number(let digits): digits.isEmpty ? "0" : digits
      }
    }

    static func < (left: Part, right: Part) -> Bool {
      switch (left, right) {
      case (.text(let one), .text(let other)): one < other
      case (.number(let one), .number(let other)):
        one.count == other.count ? one < other : one.count < other.count
      case (.number, .text): true
      case (.text, .number): false
      }
    }
  }

  private static func parts(_ name: String) -> [Part] {
    var parts: [Part] = []
    var rest = name.lowercased()[...]
    while let first = rest.first {
      let isNumber = isDigit(first)
      let run = rest.prefix { isDigit($0) == isNumber }
      if isNumber {
        parts.append(.number(digits: String(run.drop { $0 == "0" })))
      } else {
        let text = run.drop(while: isSeparator).reversed().drop(while: isSeparator).reversed()
        if !text.isEmpty { parts.append(.text(String(text))) }
      }
      rest = rest[run.endIndex...]
    }
    return parts
  }

  static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }

  private static func isSeparator(_ character: Character) -> Bool { " _-.".contains(character) }
}
