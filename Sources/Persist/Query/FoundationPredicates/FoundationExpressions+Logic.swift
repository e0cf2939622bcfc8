import Foundation

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .predicate(try translation.predicate(lhs) && translation.predicate(rhs))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .predicate(try translation.predicate(lhs) || translation.predicate(rhs))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .predicate(!(try translation.predicate(wrapped)))
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .predicate(try translation.equality(lhs, rhs))
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let isSame = try translation.equality(lhs, rhs)
    if case .comparison(var comparison) = isSame, comparison.operation == .equal {
      comparison.operation = .notEqual
      return .predicate(.comparison(comparison))
    }
    return .predicate(!isSame)
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let operation: FetchPredicate.Operator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw FoundationTranslation.error(self)
      }
    return .predicate(.compare(try translation.expression(lhs), operation, try translation.expression(rhs)))
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(
      .ternary(
        try translation.predicate(test), try translation.expression(trueBranch),
        try translation.expression(falseBranch)))
  }
}

extension FoundationTranslation {
  fileprivate mutating func equality(_ left: some PredicateExpression, _ right: some PredicateExpression) throws
    -> FetchPredicate
  {
    if let result = ((right as? any ConstantExpression)?.constant as? ComparisonResult),
      case .order(let first, let second, let options) = try term(left)
    {
      let operation: FetchPredicate.Operator =
        switch result {
        case .orderedSame: .equal
        case .orderedAscending: .less
        case .orderedDescending: .greater
        }
      return .compare(first, operation, second, options: options)
    }
    switch (try term(left), try expression(right)) {
    case (.predicate(let predicate), .constant(.boolean(let isTrue))): return isTrue ? predicate : !predicate
    case (.optional(let predicate, let isPresent), .constant(.boolean(let isTrue))):
      return isPresent && (isTrue ? predicate : !predicate)
    case (.optional(_, let isPresent), .constant(.null)): return !isPresent
    case (_, let right): return .compare(try expression(left), .equal, right)
    }
  }
}
