import Foundation

/// A predicate of the fuzz test: written as a format string for Persist, and evaluated here according to NSPredicate's
/// documentation, over plain dictionaries. Nothing of Persist's own evaluation is used.
indirect enum PlainPredicate {
  case truth(Bool)
  case not(PlainPredicate)
  case and([PlainPredicate])
  case or([PlainPredicate])
  case compare(Quantifier, PlainExpression, Operator, String, PlainExpression)

  enum Quantifier: String, CaseIterable {
    case one = "", any = "ANY ", all = "ALL ", none = "NONE "
  }

  enum Operator: String {
    case equal = "==", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">",
      greaterOrEqual = ">="
    case between = "BETWEEN", isIn = "IN", contains = "CONTAINS", begins = "BEGINSWITH", ends =
      "ENDSWITH"
    case like = "LIKE", matches = "MATCHES"
  }
}

indirect enum PlainExpression {
  case constant(PlainValue)
  case list([PlainExpression])
  /// Keys from the evaluated object, or from a variable.
  case path(variable: String?, [String])
  /// `path.@operator.key`
  case aggregate(variable: String?, [String], String, String?)
  case subqueryCount(variable: String?, [String], as: String, PlainPredicate)
  case ternary(PlainPredicate, PlainExpression, PlainExpression)
  case infix(PlainExpression, String, PlainExpression)
  /// A function of one argument by its name in the format language.
  case call(String, PlainExpression)
}

enum PlainValue: Equatable {
  case null
  case number(Decimal, isWhole: Bool)
  case text(String)
  case date(Double)
  case uuid(UUID)
  case object(Int)
  case list([PlainValue])
}

// MARK: Format strings

extension PlainPredicate {
  var format: String {
    switch self {
    case .truth(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .not(let part): "NOT (\(part.format))"
    case .and(let parts): parts.map { "(\($0.format))" }.joined(separator: " AND ")
    case .or(let parts): parts.map { "(\($0.format))" }.joined(separator: " OR ")
    case .compare(let quantifier, let left, let operation, let options, let right):
      "\(quantifier.rawValue)\(left.format) \(operation.rawValue)" + (options.isEmpty ? " " : "[\(options)] ")
        + right.format
    }
  }
}

extension PlainExpression {
  var format: String {
    switch self {
    case .constant(let value): value.format
    case .list(let parts): "{" + parts.map(\.format).joined(separator: ", ") + "}"
    case .path(let variable, let keys): Self.join(variable, keys)
    case .aggregate(let variable, let keys, let function, let key):
      Self.join(variable, keys + [function] + (key.map { [$0] } ?? []))
    case .subqueryCount(let variable, let keys, let name, let predicate):
      "SUBQUERY(\(Self.join(variable, keys)), $\(name), \(predicate.format)).@count"
    case .ternary(let predicate, let first, let second):
      "TERNARY(\(predicate.format), \(first.format), \(second.format))"
    case .infix(let left, let operation, let right): "(\(left.format) \(operation) \(right.format))"
    case .call(let name, let argument): "\(name)(\(argument.format))"
    }
  }

  private static func join(_ variable: String?, _ keys: [String]) -> String {
    ((variable.map { ["$" + $0] } ?? (keys.isEmpty ? ["SELF"] : [])) + keys).joined(separator: ".")
  }
}

extension PlainValue {
  var format: String {
    switch self {
    case .null: "nil"
    case .number(let value, let isWhole):
      isWhole ? "\(value)" : "CAST(\"\(value)\", \"NSDecimalNumber\")"
    case .text(let text):
      "\""
        + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(
          of: "\"", with: "\\\"") + "\""
    case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
    case .uuid(let value): "CAST(\"\(value.uuidString)\", \"NSUUID\")"
    case .object, .list:
      preconditionFailure("An object is given as an argument, a list part by part.")
    }
  }
}

// MARK: Evaluation

/// Evaluates predicates over the objects of a world.
struct PlainInterpreter {
  let world: PlainWorld
  var variables: [String: Int] = [:]

  func holds(_ predicate: PlainPredicate, for object: Int) -> Bool {
    switch predicate {
    case .truth(let value): return value
    case .not(let part): return !holds(part, for: object)
    case .and(let parts): return parts.allSatisfy { holds($0, for: object) }
    case .or(let parts): return parts.contains { holds($0, for: object) }
    case .compare(let quantifier, let left, let operation, let options, let right):
      let (left, right) = (value(left, for: object), value(right, for: object))
      let members = left.members
      switch quantifier {
      case .one: return compare(left, operation, options, right)
      case .any: return members.contains { compare($0, operation, options, right) }
      case .all: return members.allSatisfy { compare($0, operation, options, right) }
      case .none: return !members.contains { compare($0, operation, options, right) }
      }
    }
  }

  func value(_ expression: PlainExpression, for object: Int) -> PlainValue {
    switch expression {
    case .constant(let value): return value
    case .list(let parts): return .list(parts.map { value($0, for: object) })
    case .path(let variable, let keys): return follow(keys, from: start(variable, object))
    case .aggregate(let variable, let keys, let function, let key):
      let members = follow(keys, from: start(variable, object)).members
      let values = key.map { key in members.map { follow([key], from: $0) } } ?? members
      return aggregate(function, values.filter { $0 != .null }, count: members.count)
    case .subqueryCount(let variable, let keys, let name, let predicate):
      let found = follow(keys, from: start(variable, object)).members.filter { member in
        guard case .object(let id) = member else { return false }
        var inner = self
        inner.variables[name] = id
        return inner.holds(predicate, for: object)
      }
      return .number(Decimal(found.count), isWhole: true)
    case .ternary(let predicate, let first, let second):
      return value(holds(predicate, for: object) ? first : second, for: object)
    case .infix(let left, let operation, let right):
      return arithmetic(value(left, for: object), operation, value(right, for: object))
    case .call(let name, let argument): return call(name, value(argument, for: object))
    }
  }

  private func start(_ variable: String?, _ object: Int) -> PlainValue {
    .object(variable.flatMap { variables[$0] } ?? object)
  }

  /// A key of null is null, a key of a collection is that of every member.
  private func follow(_ keys: [String], from start: PlainValue) -> PlainValue {
    var value = start
    for key in keys {
      switch value {
      case .object(let id): value = world.value(key, of: id)
      case .list(let members):
        value = .list(
          members.flatMap { member -> [PlainValue] in
            let next = follow([key], from: member)
            if case .list(let inner) = next { return inner }
            return [next]
          })
      default: return .null
      }
    }
    return value
  }

  // MARK: Comparison

  private func compare(
    _ left: PlainValue, _ operation: PlainPredicate.Operator, _ options: String, _ right: PlainValue
  )
    -> Bool
  {
    switch operation {
    case .equal: return same(left, right, options)
    case .notEqual: return !same(left, right, options)
    case .less: return order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: return order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(left, right, options).map { $0 >= 0 } ?? false
    case .between:
      guard case .list(let bounds) = right, let low = order(bounds[0], left, options),
        let high = order(left, bounds[1], options)
      else { return false }
      return low <= 0 && high <= 0
    case .isIn:
      if case .list(let members) = right { return members.contains { same($0, left, options) } }
      return contains(right, left, options)
    case .contains:
      if case .list(let members) = left { return members.contains { same($0, right, options) } }
      return contains(left, right, options)
    case .begins, .ends, .like, .matches:
      guard case .text(let text) = left, case .text(let part) = right else { return false }
      return texts(operation, text, part, options)
    }
  }

  private func same(_ left: PlainValue, _ right: PlainValue, _ options: String) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.list(let members), .null), (.null, .list(let members)): members.isEmpty
    case (.null, _), (_, .null): false
    case (.object(let left), .object(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    default: order(left, right, options) == 0
    }
  }

  private func order(_ left: PlainValue, _ right: PlainValue, _ options: String) -> Int? {
    switch (left, right) {
    case (.number(let left, _), .number(let right, _)): left < right ? -1 : left == right ? 0 : 1
    case (.date(let left), .date(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.text(let left), .text(let right)):
      order(fold(left, options), fold(right, options), left, right, options)
    default: nil
    }
  }

  private func order(
    _ left: String, _ right: String, _ plainLeft: String, _ plainRight: String, _ options: String
  ) -> Int {
    // Equality with [c] is Foundation's; different texts have the order of their folded forms.
    if options == "c", plainLeft.caseInsensitiveCompare(plainRight) == .orderedSame { return 0 }
    if left.unicodeScalars.elementsEqual(right.unicodeScalars) { return 0 }
    return left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
  }

  private func fold(_ text: String, _ options: String) -> String {
    var found: String.CompareOptions = []
    if options.contains("c") { found.insert(.caseInsensitive) }
    if options.contains("d") { found.insert(.diacriticInsensitive) }
    guard !found.isEmpty else { return text }
    let folded = text.folding(options: found, locale: nil).precomposedStringWithCanonicalMapping
    // Foundation keeps the marks at the beginning, which belong to no letter.
    let isMark = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .nonspacingMark }
    return options.contains("d") ? String(String.UnicodeScalarView(folded.unicodeScalars.drop(while: isMark))) : folded
  }

  private func contains(_ whole: PlainValue, _ part: PlainValue, _ options: String) -> Bool {
    guard case .text(let whole) = whole, case .text(let part) = part else { return false }
    return ranges(of: fold(part, options), in: fold(whole, options)) { _, _ in true }
  }

  private func texts(
    _ operation: PlainPredicate.Operator, _ text: String, _ part: String, _ options: String
  ) -> Bool {
    let (whole, part) = (fold(text, options), operation == .matches ? part : fold(part, options))
    switch operation {
    case .begins: return ranges(of: part, in: whole) { start, _ in start == 0 }
    case .ends: return ranges(of: part, in: whole) { _, end in end == whole.unicodeScalars.count }
    case .like: return isLike(Array(whole)[...], Array(part)[...])
    default: return matches(whole, part, [])
    }
  }

  /// `*` is any text, `?` one character.
  private func isLike(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" {
      return isLike(text, pattern.dropFirst())
        || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    }
    guard let next = text.first,
      first == "?" || next.unicodeScalars.elementsEqual(first.unicodeScalars)
    else { return false }
    return isLike(text.dropFirst(), pattern.dropFirst())
  }

  private func matches(_ text: String, _ pattern: String, _ options: NSRegularExpression.Options)
    -> Bool
  {
    guard let expression = try? NSRegularExpression(pattern: "^(?:\(pattern))$", options: options)
    else { return false }
    let whole = NSRange(location: 0, length: text.utf16.count)
    return expression.firstMatch(in: text, range: whole)?.range == whole
  }

  private func ranges(of part: String, in whole: String, _ accept: (Int, Int) -> Bool) -> Bool {
    let (whole, part) = (Array(whole.unicodeScalars), Array(part.unicodeScalars))
    guard part.count <= whole.count else { return false }
    return (0...whole.count - part.count).contains { start in
      Array(whole[start..<start + part.count]) == part && accept(start, start + part.count)
    }
  }

  // MARK: Functions

  private func aggregate(_ function: String, _ values: [PlainValue], count: Int) -> PlainValue {
    if function == "@count" { return .number(Decimal(count), isWhole: true) }
    if function == "@min" || function == "@max" {
      return values.reduce(PlainValue.null) { best, next in
        guard best != .null, let order = order(next, best, "") else {
          return best == .null ? next : best
        }
        return (function == "@min" ? order < 0 : order > 0) ? next : best
      }
    }
    let numbers = values.compactMap { value -> Decimal? in
      if case .number(let number, _) = value { number } else { nil }
    }
    let total = numbers.reduce(Decimal(0), +)
    if function == "@sum" { return .number(total, isWhole: true) }
    return numbers.isEmpty ? .null : .number(total / Decimal(numbers.count), isWhole: false)
  }

  private func arithmetic(_ left: PlainValue, _ operation: String, _ right: PlainValue)
    -> PlainValue
  {
    guard case .number(let left, let leftIsWhole) = left,
      case .number(let right, let rightIsWhole) = right
    else {
      return .null
    }
    let isWhole = leftIsWhole && rightIsWhole
    switch operation {
    case "+": return .number(left + right, isWhole: isWhole)
    case "-": return .number(left - right, isWhole: isWhole)
    case "*": return .number(left * right, isWhole: isWhole)
    default:
      guard right != 0 else { return .null }
      let quotient = left / right
      return .number(isWhole ? Self.truncated(quotient) : quotient, isWhole: isWhole)
    }
  }

  private func call(_ name: String, _ argument: PlainValue) -> PlainValue {
    switch (name, argument) {
    case ("abs", .number(let value, let isWhole)): .number(Swift.abs(value), isWhole: isWhole)
    case ("-", .number(let value, let isWhole)): .number(-value, isWhole: isWhole)
    case ("uppercase", .text(let text)): .text(text.uppercased())
    case ("lowercase", .text(let text)): .text(text.lowercased())
    case ("length", .text(let text)): .number(Decimal(text.utf16.count), isWhole: true)
    case ("noindex", _): argument
    default: .null
    }
  }

  private static func truncated(_ value: Decimal) -> Decimal {
    var (source, result) = (value, Decimal())
    NSDecimalRound(&result, &source, 0, value < 0 ? .up : .down)
    return result
  }
}

extension PlainValue {
  /// The elements for ANY, ALL, SUBQUERY and collection operators: one for a single value, none for null.
  var members: [PlainValue] {
    switch self {
    case .null: []
    case .list(let members): members
    default: [self]
    }
  }
}
