// Expressions that only exist in Foundation on Apple's platforms.
#if canImport(Darwin)
import Foundation

extension PredicateExpressions.PredicateEvaluate: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard let whole = (predicate as? any ConstantExpression)?.constant as? any TranslatablePredicate else {
      throw FoundationTranslation.error(self, "evaluates a predicate that isn't a constant")
    }
    var inputs: [FoundationTranslation.Term] = []
    for part in repeat each input { inputs.append(try translation.term(part)) }
    return .predicate(try whole.predicate(of: inputs, &translation))
  }
}

/// Foundation's `Predicate`, of any inputs.
private protocol TranslatablePredicate {
  func predicate(of inputs: [FoundationTranslation.Term], _ translation: inout FoundationTranslation) throws
    -> FetchPredicate
}

extension Foundation.Predicate: TranslatablePredicate {
  fileprivate func predicate(of inputs: [FoundationTranslation.Term], _ translation: inout FoundationTranslation)
    throws -> FetchPredicate
  {
    try translation.predicate(self, of: inputs)
  }
}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .predicate(
      .compare(
        try translation.expression(root), .contains, try translation.expression(other),
        options: [.caseInsensitive, .diacriticInsensitive]))
  }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .order(try translation.expression(root), try translation.expression(other), .caseInsensitive)
  }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .order(try translation.expression(root), try translation.expression(other), .localeSensitive)
  }
}
#endif
