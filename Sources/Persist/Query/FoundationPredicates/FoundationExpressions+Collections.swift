import Foundation

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let (sequence, element) = (try translation.expression(sequence), try translation.expression(element))
    // Strings come first, because they are also sequences.
    if LHS.Output.self is any StringProtocol.Type { return .predicate(.compare(sequence, .contains, element)) }
    return .predicate(.compare(element, .in, sequence))
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let members = try translation.members(of: sequence, variable.key, where: test)
    return .predicate(.compare(members.appending(["@count"]), .greater, .value(0)))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let members = try translation.members(of: sequence, variable.key, where: test, negated: true)
    return .predicate(.compare(members.appending(["@count"]), .equal, .value(0)))
  }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(try translation.members(of: sequence, variable.key, where: filter))
  }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(.function(.maximum, [try translation.expression(elements)]))
  }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    .expression(.function(.minimum, [try translation.expression(elements)]))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard Index.Output.self is Int.Type else { throw FoundationTranslation.error(self) }
    return .expression(.element(of: try translation.expression(wrapped), .index(try translation.expression(index))))
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let (lower, upper) = (try translation.expression(lower), try translation.expression(upper))
    return .range(ValueRange(lower: lower, upper: upper, isClosed: false))
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    let (lower, upper) = (try translation.expression(lower), try translation.expression(upper))
    return .range(ValueRange(lower: lower, upper: upper, isClosed: true))
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term {
    guard case .range(let range) = try translation.term(range) else { throw FoundationTranslation.error(self) }
    return .predicate(range.contains(try translation.expression(element)))
  }
}
