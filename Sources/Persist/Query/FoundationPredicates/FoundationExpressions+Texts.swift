import Foundation

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard Base.Output.self is any StringProtocol.Type else { throw FoundationTranslation.error(self) }
    return .predicate(
      .compare(try translation.expression(base), .beginsWith, try translation.expression(prefix)))
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard Base.Output.self is any StringProtocol.Type else { throw FoundationTranslation.error(self) }
    return .predicate(.compare(try translation.expression(base), .contains, try translation.expression(other)))
  }
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard let regex = (regex as? any ConstantExpression)?.constant as? PredicateExpressions.PredicateRegex else {
      throw FoundationTranslation.error(self, "has a regular expression that isn't a constant")
    }
    // MATCHES matches the whole text, which may have several lines.
    let pattern = "(?s:.*)(?:\(regex.stringRepresentation))(?s:.*)"
    return .predicate(.compare(try translation.expression(subject), .matches, .value(pattern)))
  }
}
