import Foundation

extension FetchPredicate {
  /// The parts of a conjunction.
  package var conjuncts: [FetchPredicate] {
    if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
  }

  /// Rejects invalid regular expressions before any row is read.
  package func checkPatterns() throws {
    try forEachComparison { comparison in
      if comparison.operation == .matches, case .string(let pattern)? = comparison.right.constantValue {
        _ = try RegularExpressionMatcher(pattern, options: comparison.options)
      }
    }
  }
}

extension [FetchPredicate] {
  package var conjunction: FetchPredicate? { count > 1 ? .and(self) : first }
}
