/// Parsing of functions and other forms with arguments in parentheses.
extension FormatParser {
  /// Parses a function, starting at the parenthesis after its name.
  mutating func function(_ name: String, at offset: Int) throws -> FetchExpression {
    try require(.leftParenthesis)
    switch name.uppercased() {
    case "SUBQUERY": return try subquery()
    case "TERNARY": return try ternary()
    case "FUNCTION": return try call()
    case "FETCH": return try fetch()
    case "CAST": return try cast(expressions(until: .rightParenthesis), at: offset)
    default: return try function(name, expressions(until: .rightParenthesis), at: offset)
    }
  }

  private func function(_ name: String, _ arguments: [FetchExpression], at offset: Int) throws -> FetchExpression {
    if name == "objectFrom:withIndex:", arguments.count == 2 { return .element(of: arguments[0], .index(arguments[1])) }
    guard let function = FetchFunction(formatName: name, argumentCount: arguments.count) else {
      throw source.error(
        at: offset, "There is no function '\(name)'.",
        fix: "FUNCTION(object, \"selector:\", …) calls a method; a key isn't followed by parentheses.")
    }
    guard function.argumentCount.contains(arguments.count) else {
      throw source.error(
        at: offset,
        "The function '\(name)' takes \(function.argumentCount.lowerBound) arguments, found \(arguments.count).")
    }
    return .function(function, arguments)
  }

  private mutating func subquery() throws -> FetchExpression {
    let collection = try expression()
    try require(.comma)
    let variable = try variable()
    try require(.comma)
    let predicate = try predicate()
    try require(.rightParenthesis)
    return .subquery(collection, variable: variable, where: predicate)
  }

  private mutating func variable() throws -> String {
    guard case .variable(let name) = token.kind else { throw expected("a variable such as $item") }
    try advance()
    return name
  }

  private mutating func ternary() throws -> FetchExpression {
    let predicate = try predicate()
    try require(.comma)
    let first = try expression()
    try require(.comma)
    let second = try expression()
    try require(.rightParenthesis)
    return .ternary(predicate, first, second)
  }

  private mutating func call() throws -> FetchExpression {
    let offset = token.offset
    let parts = try expressions(until: .rightParenthesis)
    guard parts.count >= 2, case .constant(.string(let selector)) = parts[1] else {
      throw source.error(
        at: offset, "FUNCTION takes an object and a selector as a string, such as \"stringByAppendingString:\".")
    }
    return .call(on: parts[0], selector: selector, Array(parts.dropFirst(2)))
  }

  private mutating func fetch() throws -> FetchExpression {
    let offset = token.offset
    let parts = try expressions(until: .rightParenthesis)
    guard parts.count == 3 else {
      throw source.error(at: offset, "FETCH takes a request, a context, and YES or NO (count only).")
    }
    switch parts[2].constantValue {
    case .boolean(let countOnly)?: return .fetch(request: parts[0], context: parts[1], countOnly: countOnly)
    case .integer(let number)?: return .fetch(request: parts[0], context: parts[1], countOnly: number != 0)
    default: throw source.error(at: offset, "The last argument of FETCH is YES or NO (count only).")
    }
  }

  /// Creates a constant if a constant is cast to a type without literals in the language, which is the notation for
  /// dates, UUIDs and similar values.
  private func cast(_ arguments: [FetchExpression], at offset: Int) throws -> FetchExpression {
    guard arguments.count == 2, case .constant(.string(let name)) = arguments[1],
      let type = CastType(className: name)
    else {
      throw source.error(
        at: offset, "CAST takes a value and the name of a type.",
        fix: "The types are \(CastType.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    guard let literal = arguments[0].literal(of: type) else { return .function(.cast, arguments) }
    guard let value = literal else {
      throw source.error(at: offset, "\(arguments[0]) can't be cast to \(name).")
    }
    return .constant(value)
  }
}
