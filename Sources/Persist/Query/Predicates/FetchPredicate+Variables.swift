extension FetchPredicate {
  /// The names of the variables that must be given before the predicate can be evaluated.
  public var variables: Set<String> {
    var found: Set<String> = []
    collectVariables(into: &found, bound: [])
    return found
  }

  /// The predicate with values or expressions in place of its variables; variables that aren't named stay.
  ///
  /// ```swift
  /// let template = try FetchPredicate("owner == $owner AND age > $age")
  /// let request = template.substituting(["owner": owner, "age": 5])
  /// ```
  public func substituting(_ values: [String: any FetchArgument]) -> FetchPredicate {
    values.isEmpty ? self : replacingVariables(values.mapValues(\.fetchExpression))
  }

  func collectVariables(into found: inout Set<String>, bound: Set<String>) {
    switch self {
    case .constant: break
    case .comparison(let comparison):
      comparison.left.collectVariables(into: &found, bound: bound)
      comparison.right.collectVariables(into: &found, bound: bound)
    case .and(let parts), .or(let parts):
      for part in parts { part.collectVariables(into: &found, bound: bound) }
    case .not(let part): part.collectVariables(into: &found, bound: bound)
    }
  }

  func replacingVariables(_ values: [String: FetchExpression]) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.replacingVariables(values)
      comparison.right = comparison.right.replacingVariables(values)
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { $0.replacingVariables(values) })
    case .or(let parts): return .or(parts.map { $0.replacingVariables(values) })
    case .not(let part): return .not(part.replacingVariables(values))
    }
  }
}

extension FetchExpression {
  /// The names of the variables that must be given before the expression can be evaluated.
  public var variables: Set<String> {
    var found: Set<String> = []
    collectVariables(into: &found, bound: [])
    return found
  }

  /// The expression with values or expressions in place of its variables; variables that aren't named stay.
  public func substituting(_ values: [String: any FetchArgument]) -> FetchExpression {
    values.isEmpty ? self : replacingVariables(values.mapValues(\.fetchExpression))
  }

  func collectVariables(into found: inout Set<String>, bound: Set<String>) {
    switch self {
    case .constant, .current: break
    case .variable(let name): if !bound.contains(name) { found.insert(name) }
    case .path(let root, _), .keyPath(let root, _): root.collectVariables(into: &found, bound: bound)
    case .element(let list, let position):
      list.collectVariables(into: &found, bound: bound)
      if case .index(let index) = position { index.collectVariables(into: &found, bound: bound) }
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { part.collectVariables(into: &found, bound: bound) }
    case .call(let target, _, let arguments):
      for part in [target] + arguments { part.collectVariables(into: &found, bound: bound) }
    case .subquery(let collection, let variable, let predicate):
      collection.collectVariables(into: &found, bound: bound)
      predicate.collectVariables(into: &found, bound: bound.union([variable]))
    case .ternary(let predicate, let first, let second):
      predicate.collectVariables(into: &found, bound: bound)
      first.collectVariables(into: &found, bound: bound)
      second.collectVariables(into: &found, bound: bound)
    case .fetch(let request, let context, _):
      request.collectVariables(into: &found, bound: bound)
      context.collectVariables(into: &found, bound: bound)
    }
  }

  func replacingVariables(_ values: [String: FetchExpression]) -> FetchExpression {
    switch self {
    case .constant, .current: return self
    case .variable(let name): return values[name] ?? self
    case .path(let root, let keys):
      // A path from a path is one path, as the parser makes it.
      switch root.replacingVariables(values) {
      case .path(let inner, let before): return .path(of: inner, before + keys)
      case let other: return .path(of: other, keys)
      }
    case .keyPath(let root, let reference): return .keyPath(of: root.replacingVariables(values), reference)
    case .element(let list, let position):
      var position = position
      if case .index(let index) = position { position = .index(index.replacingVariables(values)) }
      return .element(of: list.replacingVariables(values), position)
    case .aggregate(let parts): return .aggregate(parts.map { $0.replacingVariables(values) })
    case .function(let function, let arguments):
      return .function(function, arguments.map { $0.replacingVariables(values) })
    case .call(let target, let selector, let arguments):
      return .call(
        on: target.replacingVariables(values), selector: selector, arguments.map { $0.replacingVariables(values) })
    case .subquery(let collection, let variable, let predicate):
      var inner = values
      inner[variable] = nil
      return .subquery(
        collection.replacingVariables(values), variable: variable, where: predicate.replacingVariables(inner))
    case .ternary(let predicate, let first, let second):
      return .ternary(
        predicate.replacingVariables(values), first.replacingVariables(values), second.replacingVariables(values))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        request: request.replacingVariables(values), context: context.replacingVariables(values), countOnly: countOnly)
    }
  }
}
