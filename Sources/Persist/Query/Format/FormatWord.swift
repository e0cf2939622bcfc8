/// The reserved words of the format language, and the characters of words.
enum FormatWord {
  /// Words between operands; no operand begins with one of them.
  private static let operators: Set<String> = [
    "AND", "OR", "NOT", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "MATCHTEXT", "BETWEEN", "ANY",
    "ALL", "SOME", "NONE", "UNION", "INTERSECT", "MINUS",
  ]

  /// Words that must be marked to be used as keys: `#in`. They include words that are keywords only before `(` or
  /// inside `[]`, since other parsers of the language reserve them.
  private static let reserved: Set<String> = operators.union([
    "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "CAST", "SUBQUERY",
    "FUNCTION", "TERNARY", "FETCH", "FIRST", "LAST", "SIZE", "ANYKEY", "CASEINSENSITIVE", "CI",
  ])

  static func isOperator(_ word: String) -> Bool { operators.contains(word.uppercased()) }

  static func isReserved(_ word: String) -> Bool { reserved.contains(word.uppercased()) }

  static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

  static func isStart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return "a"..."z" ~= scalar || "A"..."Z" ~= scalar || scalar == "_" }
    return scalar.properties.isAlphabetic
  }

  static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    isStart(scalar) || isDigit(scalar)
      || (!scalar.isASCII && [.nonspacingMark, .decimalNumber].contains(scalar.properties.generalCategory))
  }

  /// Whether a key can be written unmarked, unless it is reserved.
  static func isPlain(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first else { return false }
    return isStart(first) && key.unicodeScalars.allSatisfy(isPart)
  }
}
