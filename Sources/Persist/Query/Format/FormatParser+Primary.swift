/// Operands: literals, keys, lists, and the keys and indexes after them.
extension FormatParser {
  /// Parses an operand with its keys and indexes.
  mutating func primary() throws -> Operand {
    let bare = try bare()
    return isAt(.dot) || isAt(.leftBracket) ? try followed(bare) : bare
  }

  private mutating func followed(_ operand: Operand) throws -> Operand {
    guard case .expression(var expression) = operand else { return operand }
    while true {
      if isAt(.dot) {
        expression = expression.following(try followingKeys())
      } else if try accept(.leftBracket) {
        expression = .element(of: expression, try position())
        // Chained brackets make the tree taller without recursion, which is counted elsewhere.
        tallest += 2
        if tallest > Self.depthLimit { throw tooDeep() }
      } else {
        return .expression(expression)
      }
    }
  }

  private mutating func followingKeys() throws -> [String] {
    var followingKeys: [String] = []
    while try accept(.dot) { followingKeys += try keys() }
    return followingKeys
  }

  /// Parses an operand without the keys and indexes after it.
  ///
  /// The recursive cases are separate from the others to keep the stack frames of deep recursion small.
  private mutating func bare() throws -> Operand {
    let offset = token.offset
    switch token.kind {
    case .symbol(.leftParenthesis): return try parenthesized()
    case .symbol(.leftBrace): return .expression(.aggregate(try list()))
    case .functionName(let name):
      try advance()
      return .expression(try function(name, at: offset))
    case .word(let word):
      let leaf = try named(word)
      return isAt(.leftParenthesis) ? .expression(try function(word, at: offset)) : leaf
    default: return .expression(try leaf())
    }
  }

  private mutating func list() throws -> [FetchExpression] {
    try advance()
    return try expressions(until: .rightBrace)
  }

  private mutating func leaf() throws -> FetchExpression {
    let offset = token.offset
    switch token.kind {
    case .key, .collectionOperator: return .path(of: .current, try keys())
    case .variable(let name):
      try advance()
      if isAt(.assign) {
        throw source.error(at: token.offset, "Predicates can't assign to variables.", fix: "Substitute a value.")
      }
      return .variable(name)
    case .string(let text):
      try advance()
      return .constant(.string(text))
    case .number(let number):
      try advance()
      return .constant(number)
    case .placeholder("K", _): return FetchExpression.current.following(try keys())
    case .placeholder(let letter, let argument):
      try advance()
      return try arguments.value(letter, argument: argument, at: offset, in: source)
    default: throw expected("a value or a key")
    }
  }

  /// Parses a word: a keyword or a key. The caller handles it as a function name if a parenthesis follows.
  private mutating func named(_ word: String) throws -> Operand {
    if FormatWord.isOperator(word) {
      throw expected("a value or a key", fix: "A key with the name of an operator is written '#\(word)'.")
    }
    try advance()
    switch word.uppercased() {
    case "TRUEPREDICATE": return .predicate(.constant(true))
    case "FALSEPREDICATE": return .predicate(.constant(false))
    case "TRUE", "YES": return .expression(.constant(.boolean(true)))
    case "FALSE", "NO": return .expression(.constant(.boolean(false)))
    case "NULL", "NIL": return .expression(.constant(.null))
    case "SELF": return .expression(.current)
    default: return .expression(.path(of: .current, [word]))
    }
  }

  /// Parses a parenthesis: a predicate, an expression or, with commas, a list.
  private mutating func parenthesized() throws -> Operand {
    try require(.leftParenthesis)
    if try accept(.rightParenthesis) { return .expression(.aggregate([])) }
    let start = token.offset
    let first = try operand(.or)
    if try accept(.comma) {
      let parts = [try expression(first, from: start)] + (try expressions(until: .rightParenthesis))
      return .expression(.aggregate(parts))
    }
    try require(.rightParenthesis)
    return first
  }

  /// Parses expressions separated by commas, and the closing bracket.
  mutating func expressions(until closing: FormatToken.Symbol) throws -> [FetchExpression] {
    var parts: [FetchExpression] = []
    if try accept(closing) { return parts }
    repeat { parts.append(try expression()) } while try accept(.comma)
    guard try accept(closing) else { throw expected("',' or '\(closing.rawValue)'") }
    return parts
  }

  /// Parses one key, or the keys of a `%K`.
  private mutating func keys() throws -> [String] {
    let offset = token.offset
    switch token.kind {
    case .word(let key), .key(let key):
      try advance()
      return [key]
    case .collectionOperator(let name):
      try check(operator: name, at: offset)
      try advance()
      return [name]
    case .placeholder("K", let argument):
      let keys = try arguments.keys(argument: argument, at: offset, in: source)
      for key in keys where key.hasPrefix("@") { try check(operator: key, at: offset) }
      try advance()
      return keys
    default: throw expected("a key")
    }
  }

  private func check(operator name: String, at offset: Int) throws {
    guard CollectionOperator(rawValue: name) == nil else { return }
    let known = CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")
    throw source.error(at: offset, "There is no collection operator \(name).", fix: "The operators are \(known).")
  }

  private mutating func position() throws -> FetchExpression.Position {
    let places: [String: FetchExpression.Position] = ["FIRST": .first, "LAST": .last, "SIZE": .size]
    let start = token.offset
    let index = try expression()
    guard try accept(.rightBracket) else { throw expected("']'") }
    // FIRST, LAST and SIZE are keywords only here, and only alone: elsewhere they are ordinary keys.
    if case .path(of: .current, let keys) = index, keys.count == 1, source.isWord(at: start),
      let place = places[keys[0].uppercased()]
    {
      return place
    }
    return .index(index)
  }
}

extension FormatSource {
  /// Whether a plain word begins at the offset, rather than a key marked with `#` or passed as an argument.
  fileprivate func isWord(at offset: Int) -> Bool {
    offset < scalars.count && FormatWord.isStart(scalars[offset])
  }
}

extension FetchExpression {
  /// Appends keys to the expression. `SELF` isn't a key of its own: the keys after it start at the object.
  fileprivate func following(_ keys: [String]) -> FetchExpression {
    self == .current && keys.first?.uppercased() == "SELF" ? appending(Array(keys.dropFirst())) : appending(keys)
  }
}
