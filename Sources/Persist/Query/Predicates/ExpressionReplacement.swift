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
    var changed = try sides.map(change)[...]
    return replacingSides(by: &changed)
  }

  /// The sides of all comparisons, from left to right.
  package var sides: [FetchExpression] {
    switch self {
    case .constant: []
    case .comparison(let comparison): [comparison.left, comparison.right]
    case .and(let parts), .or(let parts): parts.flatMap(\.sides)
    case .not(let part): part.sides
    }
  }

  /// - Parameter new: An expression for each of the ``sides``, which are removed.
  fileprivate func replacingSides(by new: inout ArraySlice<FetchExpression>) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = new.removeFirst()
      comparison.right = new.removeFirst()
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { $0.replacingSides(by: &new) })
    case .or(let parts): return .or(parts.map { $0.replacingSides(by: &new) })
    case .not(let part): return .not(part.replacingSides(by: &new))
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
  // Inlined into itself, this and `replacing` were 9 kB.
  @inline(never)
  package func withParts(_ change: (FetchExpression) throws -> FetchExpression) rethrows -> FetchExpression {
    let parts = parts
    return parts.isEmpty ? self : replacingParts(by: try parts.map(change))
  }

  /// The direct parts, from left to right; of a condition, the sides of its comparisons.
  package var parts: [FetchExpression] {
    switch self {
    case .constant, .current, .variable: []
    case .keyPath(let root, _), .path(let root, _): [root]
    case .element(let list, .index(let index)): [list, index]
    case .element(let list, _): [list]
    case .aggregate(let parts), .function(_, let parts): parts
    case .call(let target, _, let parts): [target] + parts
    case .subquery(let collection, _, let predicate): [collection] + predicate.sides
    case .ternary(let predicate, let first, let second): predicate.sides + [first, second]
    case .fetch(let request, let context, _): [request, context]
    }
  }

  /// - Parameter new: An expression for each of the ``parts``.
  private func replacingParts(by new: [FetchExpression]) -> FetchExpression {
    var rest = new[...]
    switch self {
    case .constant, .current, .variable: return self
    case .keyPath(_, let reference): return .keyPath(of: rest.removeFirst(), reference)
    case .path(_, let keys): return rest.removeFirst().appending(keys)
    case .element(_, .index):
      let list = rest.removeFirst()
      return .element(of: list, .index(rest.removeFirst()))
    case .element(_, let position): return .element(of: rest.removeFirst(), position)
    case .aggregate: return .aggregate(new)
    case .function(let function, _): return .function(function, new)
    case .call(_, let selector, _): return .call(on: rest.removeFirst(), selector: selector, Array(rest))
    case .subquery(_, let variable, let predicate):
      let collection = rest.removeFirst()
      return .subquery(collection, variable: variable, where: predicate.replacingSides(by: &rest))
    case .ternary(let predicate, _, _):
      let condition = predicate.replacingSides(by: &rest)
      let first = rest.removeFirst()
      return .ternary(condition, first, rest.removeFirst())
    case .fetch(_, _, let countOnly):
      let request = rest.removeFirst()
      return .fetch(request: request, context: rest.removeFirst(), countOnly: countOnly)
    }
  }
}
