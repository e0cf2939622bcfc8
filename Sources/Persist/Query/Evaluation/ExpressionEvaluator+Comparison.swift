import Foundation

/// Comparisons: two-valued logic, in which only equality can hold for null.
extension ExpressionEvaluator {
  func matches(_ comparison: FetchPredicate.Comparison, _ object: FetchValue) throws -> Bool {
    if comparison.operation == .matchesText { return try matchesText(comparison, object) }
    if comparison.operation == .contains, comparison.modifier == .direct,
      let constants = constants(comparison.left, comparison.options)
    {
      return try constants.contains(value(of: comparison.right, for: object))
    }
    let left = try value(of: comparison.left, for: object)
    if comparison.operation == .in, let constants = constants(comparison.right, comparison.options) {
      switch comparison.modifier {
      case .direct: return constants.contains(left)
      case .any: return left.members.contains(where: constants.contains)
      case .all: return left.members.allSatisfy(constants.contains)
      }
    }
    let right = try value(of: comparison.right, for: object)
    switch comparison.modifier {
    case .direct: return try compare(left, comparison, right)
    case .any: return try left.members.contains { try compare($0, comparison, right) }
    case .all: return try left.members.allSatisfy { try compare($0, comparison, right) }
    }
  }

  private func compare(_ left: FetchValue, _ comparison: FetchPredicate.Comparison, _ right: FetchValue) throws -> Bool
  {
    let options = comparison.options
    switch comparison.operation {
    case .equal: return left.isSame(as: right, options: options)
    case .notEqual: return !left.isSame(as: right, options: options)
    case .less: return order(left, to: right, options: options) == .less
    case .greater: return order(left, to: right, options: options) == .greater
    case .lessOrEqual: return [.less, .equal].contains(order(left, to: right, options: options))
    case .greaterOrEqual: return [.greater, .equal].contains(order(left, to: right, options: options))
    case .between: return try isBetween(left, right, options: options)
    case .in: return try contains(right, left, options: options, in: comparison)
    case .contains: return try contains(left, right, options: options, in: comparison)
    case .beginsWith:
      guard let (text, part) = texts(left, right) else { return false }
      return TextComparison(options).begins(text, with: part)
    case .endsWith:
      guard let (text, part) = texts(left, right) else { return false }
      return TextComparison(options).ends(text, with: part)
    case .like:
      guard let (text, pattern) = texts(left, right) else { return false }
      return wildcardPattern(pattern, options).matches(text)
    case .matches:
      guard let (text, pattern) = texts(left, right) else { return false }
      return try regularExpression(pattern, options).matches(text)
    case .matchesText: preconditionFailure("Full-text search needs the object that contains the text.")
    }
  }

  private func order(_ left: FetchValue, to right: FetchValue, options: FetchPredicate.Options) -> ValueOrder? {
    guard case .value(let left) = left, case .value(let right) = right else { return nil }
    return left.order(to: right, options: options)
  }

  private func isBetween(_ left: FetchValue, _ bounds: FetchValue, options: FetchPredicate.Options) throws -> Bool {
    if bounds.isNull { return false }
    guard case .collection(let bounds) = bounds, bounds.count == 2 else {
      throw PersistenceError(.invalidPredicate, "BETWEEN takes two bounds.", fix: "Write them as {lower, upper}.")
    }
    return [.less, .equal].contains(order(bounds[0], to: left, options: options))
      && [.less, .equal].contains(order(left, to: bounds[1], options: options))
  }

  private func contains(
    _ whole: FetchValue, _ part: FetchValue, options: FetchPredicate.Options,
    in comparison: FetchPredicate.Comparison
  ) throws -> Bool {
    switch whole {
    case .collection(let members): return members.contains { $0.isSame(as: part, options: options) }
    case .value(.null): return false
    default:
      guard let text = whole.stored?.text else {
        throw PersistenceError(
          .typeMismatch, "\(comparison.operation.rawValue) takes a collection or a string, found neither in "
            + "'\(FetchPredicate.comparison(comparison))'.")
      }
      guard let part = part.stored?.text else { return false }
      return TextComparison(options).contains(text, part)
    }
  }

  private func texts(_ left: FetchValue, _ right: FetchValue) -> (String, String)? {
    guard let left = left.stored?.text, let right = right.stored?.text else { return nil }
    return (left, right)
  }
}

extension FetchValue {
  /// Whether two values are equal in a predicate. Collections are equal if their members are, in any order; an empty
  /// collection equals null.
  func isSame(as other: FetchValue, options: FetchPredicate.Options = []) -> Bool {
    switch (self, other) {
    case (.collection(let left), .collection(let right)):
      guard left.count == right.count else { return false }
      var rest = right
      return left.allSatisfy { member in
        guard let index = rest.firstIndex(where: { $0.isSame(as: member, options: options) }) else { return false }
        rest.remove(at: index)
        return true
      }
    case (.collection(let members), .value(.null)), (.value(.null), .collection(let members)): return members.isEmpty
    default:
      guard let left = stored, let right = other.stored else { return false }
      return left.isSame(as: right, options: options)
    }
  }
}
