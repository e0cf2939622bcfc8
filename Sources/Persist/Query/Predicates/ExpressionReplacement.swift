/// Replacement of expressions by means of a closure.
extension FetchPredicate {
  /// The predicate with some expressions replaced, outermost first; replacements aren't searched.
  package func replacing(_ replacement: (FetchExpression) throws -> FetchExpression?) rethrows -> FetchPredicate {
    try withSides { try $0.replacing(replacement) }
  }

  /// The predicate with its expressions transformed, innermost first.
  func rewritten(_ change: (FetchExpression) throws -> FetchExpression) rethrows -> FetchPredicate {
    try withSides { try $0.rewritten(change) }
  }

  /// The predicate with both sides of its comparisons transformed.
  func withSides(_ change: (FetchExpression) throws -> FetchExpression) rethrows -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try change(comparison.left)
      comparison.right = try change(comparison.right)
      return .comparison(comparison)
    case .and(let parts): return .and(try parts.map { try $0.withSides(change) })
    case .or(let parts): return .or(try parts.map { try $0.withSides(change) })
    case .not(let part): return .not(try part.withSides(change))
    }
  }
}

extension FetchPredicate {
  /// Calls a closure for every comparison, from left to right, but not for comparisons within their sides.
  package func forEachComparison(_ body: (Comparison) throws -> Void) rethrows {
    switch self {
    case .constant: break
    case .comparison(let comparison): try body(comparison)
    case .and(let parts), .or(let parts): for part in parts { try part.forEachComparison(body) }
    case .not(let part): try part.forEachComparison(body)
    }
  }
}

extension FetchExpression {
  /// As ``FetchPredicate/replacing(_:)``.
  func replacing(_ replacement: (FetchExpression) throws -> FetchExpression?) rethrows -> FetchExpression {
    if let other = try replacement(self) { return other }
    return try withParts { try $0.replacing(replacement) }
  }

  /// The expression with its parts transformed, innermost first, and finally itself.
  @inline(never)
  func rewritten(_ change: (FetchExpression) throws -> FetchExpression) rethrows -> FetchExpression {
    try change(withParts { try $0.rewritten(change) })
  }

  /// The expression with its direct parts transformed.
  package func withParts(_ change: (FetchExpression) throws -> FetchExpression) rethrows -> FetchExpression {
    switch self {
    case .constant, .current, .variable: return self
    case .keyPath(let root, let reference): return .keyPath(of: try change(root), reference)
    case .path(let root, let keys): return try change(root).appending(keys)
    case .element(let list, .index(let index)): return .element(of: try change(list), .index(try change(index)))
    case .element(let list, let position): return .element(of: try change(list), position)
    case .aggregate(let parts): return .aggregate(try parts.map(change))
    case .function(let function, let parts): return .function(function, try parts.map(change))
    case .call(let target, let selector, let parts):
      return .call(on: try change(target), selector: selector, try parts.map(change))
    case .subquery(let collection, let variable, let predicate):
      return .subquery(try change(collection), variable: variable, where: try predicate.withSides(change))
    case .ternary(let predicate, let first, let second):
      return .ternary(try predicate.withSides(change), try change(first), try change(second))
    case .fetch(let request, let context, let countOnly):
      return .fetch(request: try change(request), context: try change(context), countOnly: countOnly)
    }
  }
}
