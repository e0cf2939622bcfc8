import Foundation

/// The functions of the format language.
extension ExpressionEvaluator {
  func apply(_ function: FetchFunction, to arguments: [FetchValue]) throws -> FetchValue {
    guard function.argumentCount.contains(arguments.count) else {
      throw PersistenceError(
        .invalidPredicate, "The function '\(function.rawValue)' doesn't take \(arguments.count) arguments.")
    }
    switch function {
    case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft,
      .shiftRight:
      return try arguments.dropFirst().reduce(arguments[0]) { try arithmetic(function, $0, $1) }
    case .negate, .absolute, .ceiling, .floor, .truncate, .squareRoot, .logarithm, .naturalLogarithm, .exponential,
      .onesComplement, .randomBelow:
      return try arithmetic(function, arguments[0])
    case .uppercase: return try text(arguments[0], changedBy: function) { $0.uppercased() }
    case .lowercase: return try text(arguments[0], changedBy: function) { $0.lowercased() }
    case .canonical: return try text(arguments[0], changedBy: function, TextComparison.canonical)
    case .length: return try length(arguments[0])
    case .sum: return try Aggregate.sum(arguments)
    case .count: return .value(.integer(Int64(arguments.reduce(0) { $0 + $1.members.count })))
    case .minimum: return Aggregate.extreme(arguments, .less)
    case .maximum: return Aggregate.extreme(arguments, .greater)
    case .average: return try Aggregate.average(arguments)
    case .median: return try Aggregate.median(arguments)
    case .mode: return Aggregate.mode(arguments)
    case .standardDeviation: return try Aggregate.standardDeviation(arguments)
    case .distinct: return .collection(Aggregate.distinct(arguments[0].members))
    case .union: return .collection(Aggregate.distinct(arguments[0].members + arguments[1].members))
    case .intersection: return .collection(keep(arguments[0].members, ifIn: arguments[1].members, true))
    case .difference: return .collection(keep(arguments[0].members, ifIn: arguments[1].members, false))
    case .now: return .value(.date(now))
    case .random: return .value(.double(.random(in: 0..<1)))
    case .cast: return .value(try cast(arguments[0], to: arguments[1]))
    case .noIndex: return arguments[0]
    }
  }

  private func arithmetic(_ function: FetchFunction, _ left: FetchValue, _ right: FetchValue) throws -> FetchValue {
    guard let left = try number(left, function), let right = try number(right, function) else { return .null }
    switch function {
    case .add: return .number(Number.add(left, right))
    case .subtract: return .number(Number.subtract(left, right))
    case .multiply: return .number(Number.multiply(left, right))
    case .divide: return .number(Number.divide(left, right))
    case .modulus: return .number(Number.modulus(left, right))
    case .power: return .number(Number.power(left, right))
    default: break
    }
    guard let left = left.whole, let right = right.whole else { return .null }
    switch function {
    case .bitwiseAnd: return .number(.integer(left & right))
    case .bitwiseOr: return .number(.integer(left | right))
    case .bitwiseXor: return .number(.integer(left ^ right))
    // Swift's shifts match SQLite's: overshifting gives 0 or -1, and a negative distance shifts the other way.
    case .shiftLeft: return .number(.integer(left << right))
    default: return .number(.integer(left >> right))
    }
  }

  private func arithmetic(_ function: FetchFunction, _ argument: FetchValue) throws -> FetchValue {
    guard let number = try number(argument, function) else { return .null }
    switch function {
    case .negate: return .number(number.negated)
    case .absolute: return .number(number.absolute)
    case .ceiling: return .number(number.rounded(.up))
    case .floor: return .number(number.rounded(.down))
    case .truncate: return .number(number.rounded(.towardZero))
    case .squareRoot: return .number(Number.double(number.double.squareRoot()).unlessNaN)
    case .logarithm: return .number(Number.double(log10(number.double)).unlessNaN)
    case .naturalLogarithm: return .number(Number.double(log(number.double)).unlessNaN)
    case .exponential: return .number(Number.double(exp(number.double)).unlessNaN)
    case .onesComplement: return .number(number.whole.map { .integer(~$0) })
    default: return .number(number.whole.flatMap { $0 > 0 ? .integer(.random(in: 0..<$0)) : nil })
    }
  }

  /// The number of an argument; nil if it is null.
  private func number(_ argument: FetchValue, _ function: FetchFunction) throws -> Number? {
    if argument.isNull { return nil }
    if case .value(let value) = argument, let number = Number(value) { return number }
    throw PersistenceError(
      .typeMismatch, "The function '\(function.rawValue)' takes numbers; this is \(argument.kind).")
  }

  private func text(_ argument: FetchValue, changedBy function: FetchFunction, _ change: (String) -> String) throws
    -> FetchValue
  {
    switch argument {
    case .value(.null): return .null
    case .value(.string(let text)), .value(.uri(let text)): return .value(.string(change(text)))
    default:
      throw PersistenceError(
        .typeMismatch, "The function '\(function.rawValue)' takes a string; this is \(argument.kind).")
    }
  }

  private func length(_ argument: FetchValue) throws -> FetchValue {
    switch argument {
    case .value(.null): return .null
    case .value(.string(let text)), .value(.uri(let text)): return .value(.integer(Int64(text.utf16.count)))
    case .value(.data(let data)): return .value(.integer(Int64(data.count)))
    default: throw PersistenceError(.typeMismatch, "The function 'length:' takes a string; this is \(argument.kind).")
    }
  }

  private func keep(_ members: [FetchValue], ifIn others: [FetchValue], _ isWanted: Bool) -> [FetchValue] {
    let keys = Set(others.compactMap(\.key))
    return Aggregate.distinct(members).filter { member in
      (member.key.map(keys.contains) ?? false) == isWanted
    }
  }

  private func cast(_ argument: FetchValue, to typeName: FetchValue) throws -> StoredValue {
    guard case .value(.string(let name)) = typeName, let type = CastType(className: name) else {
      throw PersistenceError(.invalidPredicate, "CAST takes the name of a type.")
    }
    guard let value = argument.stored, let result = type.cast(value) else {
      throw PersistenceError(.typeMismatch, "CAST can't convert \(argument.kind) to \(name).")
    }
    return result
  }

  /// Calls the methods of Foundation's values that format strings use.
  func builtIn(_ selector: String, on target: FetchValue, arguments: [FetchValue]) throws -> FetchValue? {
    switch (selector, arguments.count) {
    case ("valueForKey:", 1), ("valueForKeyPath:", 1):
      guard case .value(.string(let path)) = arguments[0] else { return nil }
      return try follow(path.dottedKeys[...], from: target)
    case ("stringByAppendingString:", 1):
      if target.isNull { return .null }
      guard let text = target.stored?.text, let suffix = arguments[0].stored?.text else { return nil }
      return .value(.string(text + suffix))
    case ("count", 0):
      guard case .collection(let members) = target else { return nil }
      return .value(.integer(Int64(members.count)))
    case (_, 0):
      return try follow([selector], from: target)
    default: return nil
    }
  }
}

extension FetchValue {
  fileprivate static func number(_ number: Number?) -> FetchValue { .value(number?.value ?? .null) }
}
