import Foundation

/// Parses a format string by precedence climbing, with one token of lookahead and no backtracking.
///
/// Predicates and expressions share parentheses, whose contents aren't known in advance: every step returns an
/// ``Operand``, and each operator checks the kinds of its operands.
struct FormatParser {
  /// A parsed operand: a predicate or a comparable expression.
  enum Operand {
    case predicate(FetchPredicate)
    case expression(FetchExpression)
  }

  /// The nesting limit for parentheses, functions and operators. Parsing, comparing and evaluating a tree are
  /// recursive, and a thread's stack is small.
  static let depthLimit = 50

  let source: FormatSource
  var token: FormatToken
  var arguments: FormatArguments
  private var lexer: FormatLexer
  private var depth = 0
  /// The height of the tallest tree parsed as a part of the current one.
  var tallest = 0

  init(_ format: String, arguments: [FetchExpression]) throws {
    source = FormatSource(format)
    lexer = FormatLexer(source)
    self.arguments = FormatArguments(arguments)
    token = try lexer.next()
  }

  static func predicate(_ format: String, arguments: [FetchExpression] = []) throws -> FetchPredicate {
    var parser = try FormatParser(format, arguments: arguments)
    let predicate = try parser.predicate()
    try parser.finish()
    return predicate
  }

  static func expression(_ format: String, arguments: [FetchExpression] = []) throws -> FetchExpression {
    var parser = try FormatParser(format, arguments: arguments)
    let expression = try parser.expression()
    try parser.finish()
    return expression
  }

  private func finish() throws {
    guard token.kind == .end else { throw expected("an operator or the end") }
    try arguments.checkAllUsed(in: source)
  }

  // MARK: Tokens

  mutating func advance() throws { token = try lexer.next() }

  func isAt(_ symbol: FormatToken.Symbol) -> Bool { token.kind == .symbol(symbol) }

  mutating func accept(_ symbol: FormatToken.Symbol) throws -> Bool {
    guard isAt(symbol) else { return false }
    try advance()
    return true
  }

  mutating func require(_ symbol: FormatToken.Symbol) throws {
    guard try accept(symbol) else { throw expected("'\(symbol.rawValue)'") }
  }

  @inline(never)
  func expected(_ what: String, fix: String? = nil) -> PersistenceError {
    source.error(at: token.offset, "Expected \(what), found \(token.description).", fix: fix)
  }

  // MARK: Whole predicates and expressions

  mutating func predicate(_ precedence: FormatPrecedence = .or) throws -> FetchPredicate {
    let operand = try operand(precedence)
    return try predicate(operand)
  }

  mutating func expression(_ precedence: FormatPrecedence = .set) throws -> FetchExpression {
    let start = token.offset
    let operand = try operand(precedence)
    return try expression(operand, from: start)
  }

  func predicate(_ operand: Operand) throws -> FetchPredicate {
    if case .predicate(let predicate) = operand { return predicate }
    throw expected("a comparison such as '==' or 'CONTAINS'", fix: "Compare a Boolean explicitly: 'hidden == YES'.")
  }

  func expression(_ operand: Operand, from start: Int) throws -> FetchExpression {
    if case .expression(let expression) = operand { return expression }
    throw source.error(
      at: start, "Expected a value, found a predicate.", fix: "TERNARY(predicate, YES, NO) converts it to a value.")
  }

  /// Parses an operand and the operators after it that bind at least as tightly as `minimum`.
  mutating func operand(_ minimum: FormatPrecedence) throws -> Operand {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.depthLimit { throw tooDeep() }
    let tallestBefore = tallest
    tallest = 0
    var left = try prefixed()
    var height = tallest + 1
    while let infix = FormatInfix(token), infix.precedence >= minimum {
      tallest = 0
      left = try infixed(infix, left: left)
      height = max(height, tallest) + 1
      if height > Self.depthLimit { throw tooDeep() }
    }
    tallest = max(tallestBefore, height)
    return left
  }

  func tooDeep() -> PersistenceError {
    var error = source.error(
      at: token.offset, "The format is nested more than \(Self.depthLimit) levels deep.",
      fix: "Combine the parts with AND or OR without parentheses around each pair; use IN for lists.")
    error.code = .limitExceeded
    return error
  }

  // MARK: Operators

  private mutating func infixed(_ infix: FormatInfix, left: Operand) throws -> Operand {
    switch infix {
    case .and: return .predicate(.and(try chain(of: .and, first: predicate(left), parts: .not)))
    case .or: return .predicate(.or(try chain(of: .or, first: predicate(left), parts: .and)))
    case .comparison, .negated: return .predicate(try comparison(infix, left: comparable(left)))
    case .function(let function, let precedence):
      return .expression(try applied(function, precedence, left: comparable(left)))
    }
  }

  /// The left operand of an operator that takes values.
  private func comparable(_ left: Operand) throws -> FetchExpression {
    if case .expression(let expression) = left { return expression }
    throw expected("AND, OR or the end after a comparison")
  }

  private mutating func applied(
    _ function: FetchFunction, _ precedence: FormatPrecedence, left: FetchExpression
  ) throws -> FetchExpression {
    var operands = [left]
    repeat {
      try advance()
      // Powers associate to the right, everything else to the left.
      operands.append(try expression(function == .power ? .power : precedence.next))
      // `a + b + c` is one sum of three.
    } while function.isChained && FormatInfix(token) == .function(function, precedence)
    return .function(function, operands)
  }

  /// Parses `a AND b AND c` as one conjunction of three.
  private mutating func chain(
    of infix: FormatInfix, first: FetchPredicate, parts precedence: FormatPrecedence
  ) throws -> [FetchPredicate] {
    var parts = [first]
    while FormatInfix(token) == infix {
      try advance()
      parts.append(try predicate(precedence))
    }
    return parts
  }

  /// Parses a comparison, starting at its operator.
  private mutating func comparison(_ infix: FormatInfix, left: FetchExpression) throws -> FetchPredicate {
    let operation = try operation(infix)
    let options = try options()
    let start = token.offset
    let right = try expression(.set)
    if operation == .between { try checkBounds(right, at: start) }
    let comparison = FetchPredicate.compare(left, operation, right, options: options)
    return infix == .negated ? .not(comparison) : comparison
  }

  /// Parses an operator, with an optional `NOT` before word operators.
  private mutating func operation(_ infix: FormatInfix) throws -> FetchPredicate.Operator {
    if infix == .negated { try advance() }
    guard case .comparison(let operation)? = FormatInfix(token), operation.isWord || infix != .negated else {
      throw expected("IN, CONTAINS, BETWEEN or the like after NOT")
    }
    try advance()
    return operation
  }

  private func checkBounds(_ right: FetchExpression, at offset: Int) throws {
    guard case .aggregate(let bounds) = right, bounds.count != 2 else { return }
    throw source.error(
      at: offset, "BETWEEN takes two bounds, found \(bounds.count).", fix: "Write them as {lower, upper}.")
  }

  private mutating func options() throws -> FetchPredicate.Options {
    guard try accept(.leftBracket) else { return [] }
    var options: FetchPredicate.Options = []
    if case .word(let letters) = token.kind {
      for letter in letters.lowercased() {
        guard let option = FetchPredicate.Options.letters.first(where: { $0.letter == letter })?.option else {
          throw expected("c, d, n or l between the brackets")
        }
        options.insert(option)
      }
      try advance()
    }
    guard try accept(.rightBracket) else { throw expected("c, d, n or l, and ']'") }
    return options
  }

  private mutating func prefixed() throws -> Operand {
    switch token.kind {
    case .symbol(.not): return .predicate(try negation())
    case .symbol(.minus): return .expression(try negative())
    case .symbol(.plus): return .expression(try unsigned())
    case .symbol(.bitwiseNot): return .expression(.function(.onesComplement, [try unsigned()]))
    case .word(let word):
      switch word.uppercased() {
      case "NOT": return .predicate(try negation())
      case "ANY", "SOME": return .predicate(try quantified(.any))
      case "ALL": return .predicate(try quantified(.all))
      case "NONE": return .predicate(.not(try quantified(.any)))
      default: return try primary()
      }
    default: return try primary()
    }
  }

  private mutating func negation() throws -> FetchPredicate {
    try advance()
    return .not(try predicate(.not))
  }

  /// Parses the operand of `+` or `~`.
  private mutating func unsigned() throws -> FetchExpression {
    try advance()
    return try expression(.unary)
  }

  private mutating func quantified(_ modifier: FetchPredicate.Modifier) throws -> FetchPredicate {
    try advance()
    let start = token.offset
    guard case .comparison(var comparison) = try predicate(.comparison), comparison.modifier == .direct else {
      throw source.error(
        at: start, "\(modifier.rawValue) must precede a single comparison, such as ANY items.price > 5.")
    }
    comparison.modifier = modifier
    return .comparison(comparison)
  }

  /// Parses `-`; before a number it produces a negative number.
  private mutating func negative() throws -> FetchExpression {
    try advance()
    guard case .number(let magnitude) = token.kind else {
      return .function(.negate, [try expression(.unary)])
    }
    try advance()
    guard try accept(.power) else { return .constant(magnitude.negated) }
    let power = FetchExpression.function(.power, [.constant(magnitude), try expression(.power)])
    return .function(.negate, [power])
  }
}

extension StoredValue {
  /// The negated number; the magnitude of `Int64.min` doesn't fit into 64 bits and arrives as a decimal.
  fileprivate var negated: StoredValue {
    switch self {
    case .integer(let value): .integer(-value)
    case .double(let value): .double(-value)
    case .decimal(let value):
      -value == Decimal(Int64.min) ? .integer(.min) : .decimal(-value)
    default: self
    }
  }
}
