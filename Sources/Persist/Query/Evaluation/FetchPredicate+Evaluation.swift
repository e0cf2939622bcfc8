extension FetchPredicate {
  /// Whether the predicate holds for an object.
  ///
  /// To filter many objects, use one ``ExpressionEvaluator`` for all of them.
  ///
  /// - Throws: As ``ExpressionEvaluator/matches(_:_:)``.
  public func evaluate(with object: some KeyedObject, variables: [String: FetchValue] = [:]) throws -> Bool {
    let limited = try PredicateDepth.limited(self)
    let named = limited.hasKeyPaths ? try limited.resolvingKeyPaths(object.keys) : limited
    return try ExpressionEvaluator(variables: variables).matches(named, .object(object))
  }

  /// Whether the predicate holds for a value, available as `SELF`, as in the validation rule `SELF >= 0`.
  public func evaluate(with value: StoredValue, variables: [String: FetchValue] = [:]) throws -> Bool {
    try ExpressionEvaluator(variables: variables).matches(PredicateDepth.limited(self), .value(value))
  }
}

extension FetchExpression {
  /// The value of the expression for an object.
  ///
  /// - Throws: As ``ExpressionEvaluator/value(of:for:)``.
  public func value(for object: some KeyedObject, variables: [String: FetchValue] = [:]) throws -> FetchValue {
    let limited = try PredicateDepth.limited(self)
    let named = limited.hasKeyPaths ? try limited.resolvingKeyPaths(object.keys) : limited
    return try ExpressionEvaluator(variables: variables).value(of: named, for: .object(object))
  }

  /// The value of the expression for a value, available as `SELF`.
  public func value(for value: StoredValue, variables: [String: FetchValue] = [:]) throws -> FetchValue {
    try ExpressionEvaluator(variables: variables).value(of: PredicateDepth.limited(self), for: .value(value))
  }
}
