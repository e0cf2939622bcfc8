public import Foundation

extension FetchPredicate {
  /// Translates a predicate of Foundation's `#Predicate` macro.
  ///
  /// ```swift
  /// let cheap = try FetchPredicate(#Predicate<Item> { $0.quantity < 5 && $0.category?.name == "Tea" })
  /// ```
  ///
  /// The request that uses the predicate resolves the names of the properties.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``, naming an expression that stores don't support, such as one
  ///   over the characters of a text.
  public init<Object: KeyedObject>(_ predicate: Foundation.Predicate<Object>) throws {
    var translation = FoundationTranslation()
    self = try translation.predicate(predicate, of: [.expression(.current)])
  }
}

extension FetchRequest where Result: KeyedObject {
  /// The objects of an entity and its subentities that match one of Foundation's predicates.
  ///
  /// ```swift
  /// let request = try FetchRequest("Item", where: #Predicate<Item> { $0.quantity < 5 })
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``, naming an expression that stores don't support.
  public init(_ entityName: String, where predicate: Foundation.Predicate<Result>) throws {
    self.init(FetchRequestContent(entityName, sortedBy: []))
    self.predicate = try FetchPredicate(predicate)
  }
}

/// Translates Foundation's predicate trees to Persist's.
struct FoundationTranslation {
  /// The translation of a part of a predicate.
  indirect enum Term {
    case expression(FetchExpression)
    case predicate(FetchPredicate)
    /// A Boolean that is non-nil only if another predicate holds: `name?.contains("x")`.
    case optional(FetchPredicate, where: FetchPredicate)
    case range(ValueRange)
    /// The comparison of two texts, to be compared with a `ComparisonResult`.
    case order(FetchExpression, FetchExpression, FetchPredicate.Options)
  }

  private var variables: [PredicateExpressions.VariableID: Term] = Dictionary()
  private var depth = 0

  mutating func term(_ expression: some PredicateExpression) throws -> Term {
    guard let expression = expression as? any TranslatableExpression else { throw Self.error(expression) }
    return try expression.term(&self)
  }

  mutating func expression(_ part: some PredicateExpression) throws -> FetchExpression {
    switch try term(part) {
    case .expression(let expression): return expression
    case .predicate(let predicate): return predicate.asExpression
    case .optional(let predicate, let isPresent):
      return .ternary(isPresent, predicate.asExpression, .value(nil))
    case .range, .order: throw Self.error(part)
    }
  }

  mutating func predicate(_ part: some PredicateExpression) throws -> FetchPredicate {
    switch try term(part) {
    case .predicate(let predicate): return predicate
    case .expression(.constant(.boolean(let value))): return .constant(value)
    case .expression(let expression): return .compare(expression, .equal, .value(true))
    case .optional(let predicate, let isPresent): return isPresent && predicate
    case .range, .order: throw Self.error(part)
    }
  }

  /// The translation of a part with a term bound to a variable.
  mutating func term(_ part: some PredicateExpression, where variable: PredicateExpressions.VariableID, is value: Term)
    throws -> Term
  {
    variables[variable] = value
    defer { variables[variable] = nil }
    return try term(part)
  }

  func term(_ variable: PredicateExpressions.VariableID) -> Term? { variables[variable] }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to term: Term?) { variables[variable] = term }

  /// The members of a collection that match a condition.
  mutating func members(
    of collection: some PredicateExpression, _ variable: PredicateExpressions.VariableID,
    where condition: some PredicateExpression<Bool>, negated: Bool = false
  ) throws -> FetchExpression {
    let collection = try expression(collection)
    let name = "member\(depth)"
    depth += 1
    variables[variable] = .expression(.variable(name))
    defer {
      depth -= 1
      variables[variable] = nil
    }
    let condition = try predicate(condition)
    return .subquery(collection, variable: name, where: negated ? !condition : condition)
  }

  /// The translation of a complete predicate for the given inputs.
  mutating func predicate<each Input>(_ predicate: Foundation.Predicate<repeat each Input>, of inputs: [Term]) throws
    -> FetchPredicate
  {
    var rest = inputs[...]
    for variable in repeat each predicate.variable { variables[variable.key] = rest.popFirst() }
    return try self.predicate(predicate.expression)
  }

  static func error(_ expression: some PredicateExpression, _ reason: String? = nil) -> PersistenceError {
    let kind = "\(type(of: expression))".prefix { $0 != "<" }
    return PersistenceError(
      .invalidPredicate,
      "The predicate's expression '\(kind)' \(reason ?? "can't be evaluated by a store").",
      fix: "Rewrite it, or filter the fetched objects.")
  }
}

/// A Foundation expression that stores support.
protocol TranslatableExpression {
  func term(_ translation: inout FoundationTranslation) throws -> FoundationTranslation.Term
}

extension FetchPredicate {
  var asExpression: FetchExpression { .ternary(self, .value(true), .value(false)) }
}
