/// The order in which people number things: `Model` before `Model 2` before `Model 10`.
enum NaturalOrder {
  /// Whether one name comes before another: numbers count as numbers, letters without regard to capitals; names that
  /// are equal so far are told apart by their characters.
  static func precedes(_ left: String, _ right: String) -> Bool {
    var (first, second) = (parts(left)[...], parts(right)[...])
    while let one = first.popFirst(), let other = second.popFirst() {
      if one != other { return one < other }
    }
    if first.isEmpty != second.isEmpty { return first.isEmpty }
    return left < right
  }

  /// A run of digits, without leading zeros, or one of other characters.
  private enum Part: Comparable {
    case text(String)
    case number(digits: String)

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
      parts.append(isNumber ? .number(digits: String(run.drop { $0 == "0" })) : .text(String(run)))
      rest = rest[run.endIndex...]
    }
    return parts
  }

  private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}
