extension FetchPredicate {
  /// Creates a predicate that is always true or always false: ``constant(_:)``, with the label of NSPredicate.
  public init(value: Bool) { self = .constant(value) }

  /// Creates the conjunction of some predicates: ``and(_:)``, with the label of NSCompoundPredicate.
  public init(andPredicateWithSubpredicates parts: [FetchPredicate]) { self = .and(parts) }

  /// Creates the disjunction of some predicates: ``or(_:)``, with the label of NSCompoundPredicate.
  public init(orPredicateWithSubpredicates parts: [FetchPredicate]) { self = .or(parts) }

  /// Creates the negation of a predicate: ``not(_:)``, with the label of NSCompoundPredicate.
  public init(notPredicateWithSubpredicate part: FetchPredicate) { self = .not(part) }
}

extension FetchExpression {
  /// Creates the value at a path of keys from the evaluated object: ``key(_:)``, with the label of NSExpression.
  public init(forKeyPath path: String) { self = .key(path) }

  /// Creates a value: ``value(_:)``, with the label of NSExpression.
  public init(forConstantValue value: (any FetchArgument)?) { self = .value(value) }

  /// Creates a variable: ``variable(_:)``, with the label of NSExpression.
  public init(forVariable name: String) { self = .variable(name) }

  /// Creates several values: ``aggregate(_:)``, with the label of NSExpression.
  public init(forAggregate parts: [FetchExpression]) { self = .aggregate(parts) }

  /// Returns the evaluated object: ``current``, under the name of NSExpression.
  public static func expressionForEvaluatedObject() -> FetchExpression { .current }

  /// Creates a function of the format language, with the labels of NSExpression.
  ///
  /// ```swift
  /// try FetchExpression(forFunction: "sum:", arguments: [FetchExpression(forKeyPath: "amount")])
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` if there is no such function, or if it takes another number
  ///   of arguments.
  public init(forFunction name: String, arguments: [FetchExpression]) throws {
    guard let function = FetchFunction(formatName: name, argumentCount: arguments.count) else {
      throw PersistenceError(
        .invalidPredicate, "There is no function '\(name)'.",
        fix: "Use one of \(FetchFunction.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    guard function.argumentCount.contains(arguments.count) else {
      throw PersistenceError(
        .invalidPredicate, "The function '\(name)' doesn't take \(arguments.count) arguments.",
        fix: "Pass \(function.argumentCount.lowerBound).")
    }
    self = .function(function, arguments)
  }
}
