/// The nesting limit of predicates and expressions.
///
/// Reading, translating and evaluating a tree are recursive, and a thread's stack is small. Format strings have their
/// own limit, ``FormatParser/depthLimit``, which keeps their trees within this one.
enum PredicateDepth {
  static let limit = 128

  /// - Throws: ``PersistenceError/Code/limitExceeded`` if the predicate nests too deeply.
  static func check(_ predicate: FetchPredicate) throws { try check(predicate, at: 1) }

  /// - Throws: As ``check(_:)-(FetchPredicate)``.
  static func check(_ expression: FetchExpression) throws { try check(expression, at: 1) }

  static var error: PersistenceError {
    PersistenceError(
      .limitExceeded, "The predicate is nested more than \(limit) levels deep.",
      fix: "Combine the parts in one AND or OR instead of nested pairs; use IN for lists.")
  }

  private static func check(_ predicate: FetchPredicate, at level: Int) throws {
    guard level <= limit else { throw error }
    switch predicate {
    case .constant: break
    case .comparison(let comparison):
      try check(comparison.left, at: level + 1)
      try check(comparison.right, at: level + 1)
    case .and(let parts), .or(let parts): for part in parts { try check(part, at: level + 1) }
    case .not(let part): try check(part, at: level + 1)
    }
  }

  private static func check(_ expression: FetchExpression, at level: Int) throws {
    guard level <= limit else { throw error }
    switch expression {
    case .constant, .current, .variable: break
    case .path(let root, _), .keyPath(let root, _): try check(root, at: level + 1)
    case .element(let list, let position):
      try check(list, at: level + 1)
      if case .index(let index) = position { try check(index, at: level + 1) }
    case .aggregate(let parts), .function(_, let parts): for part in parts { try check(part, at: level + 1) }
    case .call(let target, _, let parts):
      try check(target, at: level + 1)
      for part in parts { try check(part, at: level + 1) }
    case .subquery(let collection, _, let predicate):
      try check(collection, at: level + 1)
      try check(predicate, at: level + 1)
    case .ternary(let predicate, let first, let second):
      try check(predicate, at: level + 1)
      try check(first, at: level + 1)
      try check(second, at: level + 1)
    case .fetch(let request, let context, _):
      try check(request, at: level + 1)
      try check(context, at: level + 1)
    }
  }
}
