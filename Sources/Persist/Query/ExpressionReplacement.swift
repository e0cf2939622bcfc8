/// Puts other expressions in the place of those that a closure names, outermost first.
extension FetchPredicate {
  func replacing(_ replacement: (FetchExpression) throws -> FetchExpression?) rethrows -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacing(replacement)
      comparison.right = try comparison.right.replacing(replacement)
      return .comparison(comparison)
    case .and(let parts): return .and(try parts.map { try $0.replacing(replacement) })
    case .or(let parts): return .or(try parts.map { try $0.replacing(replacement) })
    case .not(let part): return .not(try part.replacing(replacement))
    }
  }
}

extension FetchExpression {
  func replacing(_ replacement: (FetchExpression) throws -> FetchExpression?) rethrows -> FetchExpression {
    if let other = try replacement(self) { return other }
    switch self {
    case .constant, .current, .variable, .path, .keyPath, .fetch: return self
    case .subquery(let collection, let variable, let predicate):
      return .subquery(
        try collection.replacing(replacement), variable: variable, where: try predicate.replacing(replacement))
    case .element(let list, let position): return .element(of: try list.replacing(replacement), position)
    case .aggregate(let parts): return .aggregate(try parts.map { try $0.replacing(replacement) })
    case .function(let function, let arguments):
      return .function(function, try arguments.map { try $0.replacing(replacement) })
    case .call(let target, let selector, let arguments):
      return .call(
        on: try target.replacing(replacement), selector: selector, try arguments.map { try $0.replacing(replacement) })
    case .ternary(let predicate, let first, let second):
      return .ternary(
        try predicate.replacing(replacement), try first.replacing(replacement), try second.replacing(replacement))
    }
  }
}
