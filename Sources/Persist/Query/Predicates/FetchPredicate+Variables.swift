extension FetchPredicate {
  /// The names of the variables that need values before the predicate can be evaluated.
  public var variables: Set<String> {
    var found: Set<String> = []
    collectVariables(into: &found, bound: [])
    return found
  }

  /// The predicate with variables replaced by values or expressions; other variables remain.
  ///
  /// ```swift
  /// let template = try FetchPredicate("owner == $owner AND age > $age")
  /// let request = template.substituting(["owner": owner, "age": 5])
  /// ```
  public func substituting(_ values: [String: any FetchArgument]) -> FetchPredicate {
    values.isEmpty ? self : replacingVariables(values.mapValues(\.fetchExpression))
  }

  func collectVariables(into found: inout Set<String>, bound: Set<String>) {
    forEachComparison { comparison in
      comparison.left.collectVariables(into: &found, bound: bound)
      comparison.right.collectVariables(into: &found, bound: bound)
    }
  }

  func replacingVariables(_ values: [String: FetchExpression]) -> FetchPredicate {
    replacingReferences(References(variables: values))
  }

  /// The predicate with the evaluated object replaced by another expression, for example a variable.
  package func asking(of other: FetchExpression) -> FetchPredicate { replacingReferences(References(current: other)) }

  /// As ``FetchExpression/replacingReferences(_:)``.
  fileprivate func replacingReferences(_ values: References) -> FetchPredicate {
    withSides { $0.replacingReferences(values) }
  }
}

extension FetchExpression {
  /// The names of the variables that need values before the expression can be evaluated.
  public var variables: Set<String> {
    var found: Set<String> = []
    collectVariables(into: &found, bound: [])
    return found
  }

  /// The expression with variables replaced by values or expressions; other variables remain.
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

  package func replacingVariables(_ values: [String: FetchExpression]) -> FetchExpression {
    replacingReferences(References(variables: values))
  }

  /// The expression with the evaluated object, or free variables, replaced by other expressions.
  ///
  /// A subquery whose variable occurs in one of these gets another variable, so that it doesn't bind that occurrence.
  fileprivate func replacingReferences(_ values: References) -> FetchExpression {
    switch self {
    case .current: return values.current ?? self
    case .variable(let name): return values.variables[name] ?? self
    case .subquery(let collection, let variable, let predicate):
      var inner = values
      inner.variables[variable] = nil
      var inserted = inner.current?.variables ?? []
      for value in inner.variables.values { inserted.formUnion(value.variables) }
      var name = variable
      if inserted.contains(name) {
        let used = inserted.union(predicate.variables)
        while used.contains(name) { name += "_" }
        inner.variables[variable] = .variable(name)
      }
      return .subquery(
        collection.replacingReferences(values), variable: name, where: predicate.replacingReferences(inner))
    default: return withParts { $0.replacingReferences(values) }
    }
  }
}

/// The replacements of references in an expression.
private struct References {
  /// Replaces the evaluated object; nil to leave it.
  var current: FetchExpression?
  /// Replace variables, by name. Expressions aren't used as keys: the first dictionary of a process with keys of a type
  /// takes half a million instructions.
  var variables: [String: FetchExpression] = Dictionary()
}
