public import Foundation

/// Evaluates predicates and expressions in memory.
///
/// One evaluator serves one piece of work, such as filtering the results of one request: `now()` is constant and
/// compiled patterns are cached. Not Sendable, since it reads objects in their isolation.
///
/// ```swift
/// let evaluator = ExpressionEvaluator()
/// let adults = try people.filter { try evaluator.matches(predicate, .object($0)) }
/// ```
public final class ExpressionEvaluator {
  /// The implementation of `FUNCTION` and `FETCH`, provided by code that knows the objects.
  public protocol Calls {
    /// - Returns: The result; nil if there is no such method.
    func call(_ selector: String, on target: FetchValue, arguments: [FetchValue]) throws -> FetchValue?
    /// - Returns: The matching objects or their number; nil if fetching isn't supported.
    func fetch(request: FetchValue, context: FetchValue, countOnly: Bool) throws -> FetchValue?
  }

  /// The time that `now()` returns.
  public let now: Date
  let calls: (any Calls)?
  fileprivate var variables: [String: FetchValue]
  private(set) var wildcards = PatternCache<WildcardPattern>()
  private(set) var expressions = PatternCache<RegularExpressionMatcher>()
  private var lists = ConstantLists()
  private var depth = 0

  /// - Parameters:
  ///   - variables: The values of the `$variables` in the predicates.
  ///   - now: The time that `now()` returns.
  ///   - calls: The implementation of `FUNCTION` and `FETCH` beyond the few methods that every value has.
  @inline(never)
  public init(variables: [String: FetchValue] = [:], now: Date = Date(), calls: (any Calls)? = nil) {
    self.variables = variables
    self.now = now
    self.calls = calls
  }

  /// Whether a predicate holds for an object or a value.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``, ``PersistenceError/Code/invalidPredicate`` and
  ///   ``PersistenceError/Code/typeMismatch`` if the predicate can't be evaluated for it;
  ///   ``PersistenceError/Code/limitExceeded`` if a regular expression takes too long or the predicate nests too
  ///   deeply.
  public func matches(_ predicate: FetchPredicate, _ object: FetchValue) throws -> Bool {
    try descend()
    defer { depth -= 1 }
    switch predicate {
    case .constant(let value): return value
    case .comparison(let comparison): return try matches(comparison, object)
    case .and(let parts): return try parts.allSatisfy { try matches($0, object) }
    case .or(let parts): return try parts.contains { try matches($0, object) }
    case .not(let part): return try matches(part, object) == false
    }
  }

  /// The value of an expression for an object or a value.
  ///
  /// - Throws: As ``matches(_:_:)``.
  public func value(of expression: FetchExpression, for object: FetchValue) throws -> FetchValue {
    try descend()
    defer { depth -= 1 }
    switch expression {
    case .constant(let value): return .value(value)
    case .current: return object
    case .variable(let name): return try variable(name)
    case .path(let root, let keys): return try follow(keys[...], from: value(of: root, for: object))
    case .keyPath(_, let reference): throw reference.withoutNames
    case .element(let list, let position): return try element(of: list, position, for: object)
    case .aggregate(let parts): return .collection(try values(of: parts, for: object))
    case .function(let function, let arguments):
      return try apply(function, to: values(of: arguments, for: object))
    case .call(let target, let selector, let arguments):
      return try call(selector, on: value(of: target, for: object), values(of: arguments, for: object))
    case .subquery(let collection, let variable, let predicate):
      return try members(of: value(of: collection, for: object), named: variable, matching: predicate, for: object)
    case .ternary(let predicate, let first, let second):
      return try value(of: matches(predicate, object) ? first : second, for: object)
    case .fetch(let request, let context, let countOnly):
      return try fetch(value(of: request, for: object), value(of: context, for: object), countOnly: countOnly)
    }
  }

  /// - Throws: ``PersistenceError/Code/limitExceeded`` if the tree exceeds the maximum depth.
  private func descend() throws {
    guard depth < PredicateDepth.limit else { throw PredicateDepth.error }
    depth += 1
  }

  private func values(of expressions: [FetchExpression], for object: FetchValue) throws -> [FetchValue] {
    try expressions.map { try value(of: $0, for: object) }
  }

  private func variable(_ name: String) throws -> FetchValue {
    if let value = variables[name] { return value }
    throw PersistenceError(
      .invalidPredicate, "The variable $\(name) has no value.", fix: "Substitute a value before evaluating.")
  }

  /// The members that match a predicate over `$variable`; `SELF` and keys in it refer to the outer object.
  private func members(
    of collection: FetchValue, named variable: String, matching predicate: FetchPredicate, for object: FetchValue
  ) throws -> FetchValue {
    let outer = variables[variable]
    defer { variables[variable] = outer }
    return .collection(
      try collection.members.filter { member in
        // A path over to-one relationships that are null has null members; no row corresponds to those.
        guard !member.isNull else { return false }
        variables[variable] = member
        return try matches(predicate, object)
      })
  }

  private func call(_ selector: String, on target: FetchValue, _ arguments: [FetchValue]) throws -> FetchValue {
    if let result = try calls?.call(selector, on: target, arguments: arguments) { return result }
    if let result = try builtIn(selector, on: target, arguments: arguments) { return result }
    throw PersistenceError(
      .invalidPredicate, "FUNCTION can't call the unknown method '\(selector)'.",
      fix: "Implement it in the migration policy or in the evaluator's calls.")
  }

  private func fetch(_ request: FetchValue, _ context: FetchValue, countOnly: Bool) throws -> FetchValue {
    if let result = try calls?.fetch(request: request, context: context, countOnly: countOnly) { return result }
    throw PersistenceError(
      .invalidPredicate, "FETCH can't be evaluated without a context.",
      fix: "Evaluate the expression for an object of a context.")
  }

  /// The indexed list of an expression; nil unless the expression is a list of many constants.
  func constants(_ list: FetchExpression, _ options: FetchPredicate.Options) -> ConstantLists.List? {
    guard case .aggregate(let parts) = list, parts.count >= ConstantLists.least else { return nil }
    return lists.list(of: parts, options)
  }

  package func wildcardPattern(_ pattern: String, _ options: FetchPredicate.Options) -> WildcardPattern {
    wildcards.pattern(pattern, options) { WildcardPattern(pattern, options: options) }
  }

  package func regularExpression(
    _ pattern: String, _ options: FetchPredicate.Options
  ) throws -> RegularExpressionMatcher {
    try expressions.pattern(pattern, options) { try RegularExpressionMatcher(pattern, options: options) }
  }
}

extension ExpressionEvaluator {
  /// Evaluates as ``value(of:for:)`` does, with additional variables for this call only.
  package func value(
    of expression: FetchExpression, for object: FetchValue, with further: [String: FetchValue]
  ) throws -> FetchValue {
    let outer = variables
    variables.merge(further) { _, further in further }
    defer { variables = outer }
    return try value(of: expression, for: object)
  }
}
