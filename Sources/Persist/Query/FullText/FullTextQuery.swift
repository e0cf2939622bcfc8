/// A validated `MATCHTEXT` query in SQLite's query language, without column filters.
///
/// Words that must all occur (`tea cup`), phrases (`"green tea"`, `green + tea`), prefixes (`te*`), a prefix of the
/// whole text (`^tea`), `NEAR(tea cup, 5)`, `AND`, `OR`, `NOT` and parentheses. SQLite accepts every query that passes
/// validation, so that an error reports its position before anything runs.
///
/// - SeeAlso: <https://sqlite.org/fts5.html#full_text_query_syntax>
public struct FullTextQuery: Sendable, Hashable {
  /// The query as written, which SQLite accepts.
  public let text: String

  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column in the query.
  public init(_ text: String) throws {
    self.text = text
    var parser = FullTextQueryParser(text)
    try parser.parse()
  }

  /// A query for texts that contain all words of user input, which may contain any characters.
  ///
  /// - Parameters:
  ///   - text: The user's input.
  ///   - isPrefix: Whether the last word may be a prefix, as during typing.
  public init(words text: String, lastIsPrefix isPrefix: Bool = false) {
    let words = text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.map { word in
      "\"" + String(word).doubling("\"") + "\""
    }
    // A phrase without words matches no text.
    let query = words.isEmpty ? "\"\"" : words.joined(separator: " ")
    self.text = isPrefix && !words.isEmpty ? query + "*" : query
  }
}

/// Parses a query by SQLite's grammar, only to find errors.
private struct FullTextQueryParser {
  private enum Token: Equatable {
    case and, or, not, open, close, comma, plus, star, caret, end
    /// A word without quotes.
    case word(isNear: Bool, isNumber: Bool)
    case quoted
  }

  private static let depthLimit = 50
  private static let lengthLimit = 10_000

  private let scalars: [Unicode.Scalar]
  private var position = 0
  /// The next token, and its start.
  private var token = Token.end
  private var start = 0
  private var operatorCount = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func parse() throws {
    guard scalars.count <= Self.lengthLimit else {
      throw error("The query is longer than \(Self.lengthLimit) characters.", at: Self.lengthLimit)
    }
    try advance()
    try expression(depth: 0)
    if token != .end { throw unexpected() }
  }

  private mutating func expression(depth: Int) throws {
    try part(depth: depth)
    while [.and, .or, .not].contains(token) {
      operatorCount += 1
      guard operatorCount <= 200 else { throw error("The query has more than 200 operators.", at: start) }
      try advance()
      try part(depth: depth)
    }
  }

  /// Parses a parenthesis, or phrases that must all occur.
  private mutating func part(depth: Int) throws {
    if token == .open {
      guard depth < Self.depthLimit else { throw error("Parentheses are nested too deeply.", at: start) }
      try advance()
      try expression(depth: depth + 1)
      guard token == .close else { throw unexpected("a closing parenthesis") }
      return try advance()
    }
    try phrases()
    while token == .caret || isText { try phrases() }
  }

  private mutating func phrases() throws {
    if token == .caret {
      try advance()
      return try phrase()
    }
    guard case .word(isNear: true, _) = token, next == "(" else { return try phrase() }
    try advance()
    try advance()
    repeat { try phrase() } while isText
    if token == .comma {
      try advance()
      guard case .word(_, isNumber: true) = token else { throw unexpected("a number of words") }
      try advance()
    }
    guard token == .close else { throw unexpected("a closing parenthesis") }
    try advance()
  }

  private mutating func phrase() throws {
    guard isText else { throw unexpected("a word or a quoted string") }
    try advance()
    if token == .star { try advance() }
    guard token == .plus else { return }
    try advance()
    try phrase()
  }

  private var isText: Bool {
    switch token {
    case .word, .quoted: true
    default: false
    }
  }

  /// The next character after the token that isn't whitespace.
  private var next: Unicode.Scalar? { scalars[position...].first { !Self.isSpace($0) } }

  private mutating func advance() throws {
    while position < scalars.count, Self.isSpace(scalars[position]) { position += 1 }
    start = position
    guard position < scalars.count else {
      token = .end
      return
    }
    let scalar = scalars[position]
    position += 1
    switch scalar {
    case "(": token = .open
    case ")": token = .close
    case ",": token = .comma
    case "+": token = .plus
    case "*": token = .star
    case "^": token = .caret
    case "\"": try quoted()
    case _ where Self.isWord(scalar): word()
    case ":", "{", "}", "-":
      throw error(
        "'\(scalar)' selects columns; write the attribute's key on the left of MATCHTEXT instead.", at: start)
    default: throw error("'\(scalar.escaped(asASCII: true))' must be in quotes.", at: start)
    }
  }

  private mutating func quoted() throws {
    while position < scalars.count {
      let scalar = scalars[position]
      guard scalar != "\0" else { throw error("A query can't hold the character U+0000.", at: position) }
      position += 1
      guard scalar == "\"" else { continue }
      guard position < scalars.count, scalars[position] == "\"" else {
        token = .quoted
        return
      }
      position += 1
    }
    throw error("The closing quotation mark is missing.", at: start)
  }

  private mutating func word() {
    while position < scalars.count, Self.isWord(scalars[position]) { position += 1 }
    let word = scalars[start..<position]
    token =
      switch String(String.UnicodeScalarView(word)) {
      case "AND": .and
      case "OR": .or
      case "NOT": .not
      case let text: .word(isNear: text == "NEAR", isNumber: word.allSatisfy { "0"..."9" ~= $0 })
      }
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\n", "\r"].contains(scalar) }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.isASCII || "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar || scalar == "_"
      || scalar == "\u{1A}"
  }

  private func unexpected(_ wanted: String = "an operator or the end") -> PersistenceError {
    error("Expected \(wanted), found \(token == .end ? "the end" : "'\(scalars[start])'").", at: start)
  }

  private func error(_ message: String, at index: Int) -> PersistenceError {
    PersistenceError(
      .invalidPredicate, at: PersistenceError.Place(column: index + 1), "The full-text query is invalid: \(message)",
      fix: "Quote user input, as FullTextQuery(words:) does.")
  }
}
