/// The nesting limit of predicates and expressions.
///
/// Reading, translating and evaluating a tree are recursive, and a thread's stack is small. Chains of AND, OR, NOT, `+`
/// and `*`, as loops build them, have any length: they are flattened if they nest too deeply. Format strings have their
/// own limit, ``FormatParser/depthLimit``, which keeps their trees within this one.
package enum PredicateDepth {
  static let limit = 128
  /// The maximum number of keys in a path: a relationship that leads back to its entity allows paths of any length.
  static let pathLimit = 100

  /// Returns a predicate that is nested within the limit.
  ///
  /// - Throws: ``PersistenceError/Code/limitExceeded`` if the predicate nests too deeply other than in chains, or if a
  ///   path is too long.
  package static func limited(_ predicate: FetchPredicate) throws -> FetchPredicate {
    try flattened(predicate) ?? predicate
  }

  /// Returns what ``limited(_:)-(FetchPredicate)`` does if that is another predicate; nil otherwise.
  static func flattened(_ predicate: FetchPredicate) throws -> FetchPredicate? {
    try isLimited(predicate, at: 1) ? nil : flattened(predicate, at: 1)
  }

  /// Returns an expression that is nested within the limit.
  ///
  /// - Throws: As ``limited(_:)-(FetchPredicate)``.
  package static func limited(_ expression: FetchExpression) throws -> FetchExpression {
    if try isLimited(expression, at: 1) { return expression }
    return try flattened(expression, at: 1)
  }

  static var error: PersistenceError {
    PersistenceError(
      .limitExceeded, "The predicate is nested more than \(limit) levels deep.",
      fix: "Combine the parts in one AND or OR instead of nested pairs; use IN for lists.")
  }

  /// - Throws: ``PersistenceError/Code/limitExceeded`` for a path with too many keys.
  static func checkPath(_ keys: some Collection<String>) throws {
    guard keys.count > pathLimit else { return }
    let start = keys.prefix(3).joined(separator: ".")
    throw PersistenceError(
      .limitExceeded, "The path '\(start)…' has \(keys.count) keys; at most \(pathLimit) are allowed.",
      fix: "Follow a part of the relationships at a time.")
  }

  private static func isLimited(_ predicate: FetchPredicate, at level: Int) throws -> Bool {
    guard level <= limit else { return false }
    switch predicate {
    case .constant: return true
    case .comparison(let comparison):
      return try isLimited(comparison.left, at: level + 1) && isLimited(comparison.right, at: level + 1)
    case .and(let parts), .or(let parts): return try parts.allSatisfy { try isLimited($0, at: level + 1) }
    case .not(let part): return try isLimited(part, at: level + 1)
    }
  }

  private static func isLimited(_ expression: FetchExpression, at level: Int) throws -> Bool {
    guard level <= limit else { return false }
    func areLimited(_ parts: [FetchExpression]) throws -> Bool {
      try parts.allSatisfy { try isLimited($0, at: level + 1) }
    }
    switch expression {
    case .constant, .current, .variable: return true
    case .path(let root, let keys):
      try checkPath(keys)
      return try isLimited(root, at: level + 1)
    case .keyPath(let root, _): return try isLimited(root, at: level + 1)
    case .element(let list, .index(let index)): return try areLimited([list, index])
    case .element(let list, _): return try isLimited(list, at: level + 1)
    case .aggregate(let parts), .function(_, let parts): return try areLimited(parts)
    case .call(let target, _, let parts): return try isLimited(target, at: level + 1) && areLimited(parts)
    case .subquery(let collection, _, let predicate):
      return try isLimited(collection, at: level + 1) && isLimited(predicate, at: level + 1)
    case .ternary(let predicate, let first, let second):
      return try isLimited(predicate, at: level + 1) && areLimited([first, second])
    case .fetch(let request, let context, _): return try areLimited([request, context])
    }
  }

  // MARK: Flattening

  private static func flattened(_ predicate: FetchPredicate, at level: Int) throws -> FetchPredicate {
    guard level <= limit else { throw error }
    switch predicate {
    case .constant: return predicate
    case .comparison(var comparison):
      comparison.left = try flattened(comparison.left, at: level + 1)
      comparison.right = try flattened(comparison.right, at: level + 1)
      return .comparison(comparison)
    case .and, .or:
      let (parts, isConjunction) = chain(predicate)
      let flat = try parts.map { try flattened($0, at: level + 1) }
      return isConjunction ? .and(flat) : .or(flat)
    case .not:
      var (part, isNegated) = (predicate, false)
      while case .not(let inner) = part { (part, isNegated) = (inner, !isNegated) }
      return isNegated ? .not(try flattened(part, at: level + 1)) : try flattened(part, at: level)
    }
  }

  /// The parts of a conjunction or disjunction, and of those of the same kind among them.
  private static func chain(_ predicate: FetchPredicate) -> (parts: [FetchPredicate], isConjunction: Bool) {
    let isConjunction = if case .and = predicate { true } else { false }
    var (found, waiting) = ([FetchPredicate](), [predicate])
    while let part = waiting.popLast() {
      switch part {
      case .and(let inner) where isConjunction: waiting += inner.reversed()
      case .or(let inner) where !isConjunction: waiting += inner.reversed()
      default: found.append(part)
      }
    }
    return (found, isConjunction)
  }

  private static func flattened(_ expression: FetchExpression, at level: Int) throws -> FetchExpression {
    guard level <= limit else { throw error }
    switch expression {
    case .constant, .current, .variable: return expression
    case .function(let function, _) where function.isChained:
      let parts = operands(expression, of: function)
      return .function(function, try parts.map { try flattened($0, at: level + 1) })
    case .path(_, let keys):
      try checkPath(keys)
      return try expression.withParts { try flattened($0, at: level + 1) }
    case .subquery(let collection, let variable, let predicate):
      return .subquery(
        try flattened(collection, at: level + 1), variable: variable, where: try flattened(predicate, at: level + 1))
    case .ternary(let predicate, let first, let second):
      return .ternary(
        try flattened(predicate, at: level + 1), try flattened(first, at: level + 1),
        try flattened(second, at: level + 1))
    default: return try expression.withParts { try flattened($0, at: level + 1) }
    }
  }

  /// The operands of a chain of sums or products, in the order of calculation. The result is exactly that of the tree,
  /// because an operand may change sides: `a + (b + c)` is `c + b + a`… for floating-point numbers too.
  private static func operands(_ expression: FetchExpression, of function: FetchFunction) -> [FetchExpression] {
    var (current, later) = (expression, [FetchExpression]())
    while true {
      guard case .function(function, let parts) = current, let first = parts.first, parts.count > 1 else {
        return [current] + later.reversed()
      }
      if first.isFunction(function) || parts.count > 2 || !parts[1].isFunction(function) {
        later += parts.dropFirst().reversed()
        current = first
      } else {
        later.append(first)
        current = parts[1]
      }
    }
  }
}

extension FetchFunction {
  /// Whether the function takes any number of arguments, from the first to the last, as chains of its operator do.
  var isChained: Bool { self == .add || self == .multiply }
}

extension FetchExpression {
  func isFunction(_ function: FetchFunction) -> Bool {
    if case .function(function, _) = self { true } else { false }
  }

  /// The sum, product or other result of two expressions, for operators that loops may chain: a chain in which each
  /// result is the next left operand doesn't nest with its length.
  package static func chained(_ function: FetchFunction, _ left: FetchExpression, _ right: FetchExpression) -> Self {
    if function.isChained, case .function(function, let parts) = left, parts.count < FetchPredicate.groupSize {
      return .function(function, parts + [right])
    }
    return .function(function, [left, right])
  }
}
