/// Natural sort order: `Model` before `Model 2` before `Model 10`.
package enum NaturalOrder {
  /// Whether one name comes before another: numbers compare by value and letters without regard to case, and separators
  /// between numbers and letters are ignored, so that `V22` comes before `V 23`; names that are equal so far are
  /// compared by their characters.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    precedes((left, parts(left)), (right, parts(right)))
  }

  /// Returns names in natural order, each of which is split once.
  static func sorted(_ names: [String]) -> [String] {
    names.map { (name: $0, parts: parts($0)) }.ordered(by: precedes).map(\.name)
  }

  private static func precedes(_ left: (name: String, parts: [Part]), _ right: (name: String, parts: [Part])) -> Bool {
    for (one, other) in zip(left.parts, right.parts) where one != other { return one < other }
    if left.parts.count != right.parts.count { return left.parts.count < right.parts.count }
    return left.name < right.name
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

  /// Works on bytes: digits and separators are ASCII, and folders of hundreds of versions are sorted whenever a
  /// registry is read.
  private static func parts(_ name: String) -> [Part] {
    let name = name.lowercased()
    let bytes = name.utf8
    var parts: [Part] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let isNumber = isDigit(bytes[start])
      let end = bytes[start...].firstIndex { isDigit($0) != isNumber } ?? bytes.endIndex
      var run = bytes[start..<end]
      if isNumber {
        while run.first == UInt8(ascii: "0") { run.removeFirst() }
        parts.append(.number(digits: String(Substring(run))))
      } else {
        while let first = run.first, isSeparator(first) { run.removeFirst() }
        while let last = run.last, isSeparator(last) { run.removeLast() }
        if !run.isEmpty { parts.append(.text(String(Substring(run)))) }
      }
      start = end
    }
    return parts
  }

  static func isDigit(_ character: Character) -> Bool { character.asciiValue.map(isDigit) ?? false }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }
}
