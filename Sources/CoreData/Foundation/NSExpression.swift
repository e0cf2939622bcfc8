public import Foundation
import Persist

// Unchecked: expressions are immutable.
/// An expression in a predicate, a fetched column or a mapping.
///
/// Foundation's class of this name can't be used outside of Apple's platforms.
open class NSExpression: NSObject, @unchecked Sendable {
  private let expression: FetchExpression
  /// A constant that no store knows.
  private(set) var constantObject: AnyObject?

  package init(_ expression: FetchExpression) { self.expression = expression }

  /// The expression that stores and contexts evaluate.
  package var fetchExpression: FetchExpression { expression }

  /// Creates an expression from a text in the format language, which stops the program if it is malformed.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// Creates an expression from a text in the format language and the values of its placeholders.
  ///
  /// A malformed text stops the program, as it raises an exception on Apple's platforms.
  public init(format: String, argumentArray: [Any]?) {
    do {
      let predicate = try FetchPredicate(
        format: "SELF == (\(format))", argumentArray: argumentArray?.map(PredicateArgument.persist))
      guard case .comparison(let comparison) = predicate else { stop("'\(format)' isn't an expression.") }
      expression = comparison.right
    } catch {
      stop("The expression '\(format)' can't be created: \(error)")
    }
  }

  /// Creates an expression for a constant.
  ///
  /// - Parameter value: A value that an attribute can have, an object, or a collection; for an
  ///   ``NSFetchRequestExpression`` a request or a context. Others stop the program.
  public init(forConstantValue value: Any?) {
    switch value {
    case let request as NSPersistentStoreRequest: (expression, constantObject) = (.constant(.null), request)
    case let context as NSManagedObjectContext: (expression, constantObject) = (.constant(.null), context)
    default: expression = Self.constant(value)
    }
  }

  /// Creates an expression for the value at a key path of the evaluated object.
  public init(forKeyPath path: String) { expression = Self.path(path) }

  /// Creates an expression for the value at a key path of the evaluated object.
  public init<Root, Value>(forKeyPath path: KeyPath<Root, Value>) {
    expression = .keyPath(of: .current, KeyPathReference(ofProperties: path))
  }

  /// Creates an expression for a variable, without its dollar sign.
  public init(forVariable name: String) { expression = .variable(name) }

  /// Creates an expression for a function.
  ///
  /// - Parameters:
  ///   - name: A function of NSExpression, such as `sum:` or `uppercase:`.
  ///   - arguments: Expressions or constants.
  public init(forFunction name: String, arguments: [Any]) {
    let expressions = arguments.map { argument in
      (argument as? NSExpression)?.fetchExpression ?? Self.constant(argument)
    }
    guard let function = FetchFunction(rawValue: name) else { stop("There is no function '\(name)' in expressions.") }
    expression = .function(function, expressions)
  }

  /// Creates an expression for a collection of values or expressions.
  public init(forAggregate members: [Any]) {
    expression = .aggregate(members.map { ($0 as? NSExpression)?.fetchExpression ?? Self.constant($0) })
  }

  /// Creates an expression for the members of a collection for which a predicate with a variable holds.
  ///
  /// A predicate with a block stops the program.
  public init(forSubquery collection: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
    do {
      expression = .subquery(
        collection.fetchExpression, variable: variable, where: try predicate.fetchPredicate())
    } catch {
      stop("A subquery can't have this predicate: \(error)")
    }
  }

  /// Returns the value of the expression for an object.
  ///
  /// - Parameters:
  ///   - object: A managed object, a dictionary or nil.
  ///   - context: Values of variables.
  public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    var variables: [String: FetchValue] = [:]
    for (key, value) in context ?? [:] { variables["\(key)"] = Self.value(value) }
    do {
      let value = try ExpressionEvaluator(variables: variables).value(of: fetchExpression, for: Self.value(object))
      return ManagedArguments.any(value)
    } catch {
      stop("The expression '\(self)' has no value for \(object ?? "nil"): \(error)")
    }
  }

  private static func value(_ object: Any?) -> FetchValue {
    switch object {
    case let object as NSManagedObject: .object(object)
    case let values as [String: Any]: .object(DictionaryObject(values))
    case let list as [Any]: .collection(list.map { value($0) })
    case let set as NSSet: .collection(set.allObjects.map { value($0) })
    default: .value(PredicateArgument.compared(object))
    }
  }

  /// The kinds of expressions.
  public enum ExpressionType: UInt, Sendable {
    /// A constant.
    case constantValue = 0
    /// The evaluated object.
    case evaluatedObject = 1
    /// A variable.
    case variable = 2
    /// A key path.
    case keyPath = 3
    /// A function.
    case function = 4
    /// The members of either of two collections.
    case unionSet = 5
    /// The members of both of two collections.
    case intersectSet = 6
    /// The members of one collection that aren't in another.
    case minusSet = 7
    /// A subquery.
    case subquery = 13
    /// A collection of expressions.
    case aggregate = 14
    /// A choice between two expressions.
    case conditional = 20
  }

  /// The kind of the expression.
  public var expressionType: ExpressionType {
    switch fetchExpression {
    case .constant: .constantValue
    case .current: .evaluatedObject
    case .variable: .variable
    case .path, .keyPath: .keyPath
    case .function(.union, _): .unionSet
    case .function(.intersection, _): .intersectSet
    case .function(.difference, _): .minusSet
    case .element, .function, .call, .fetch: .function
    case .aggregate: .aggregate
    case .subquery: .subquery
    case .ternary: .conditional
    }
  }

  /// The name of the function; empty for other expressions.
  public var function: String {
    switch fetchExpression {
    case .function(let function, _): function.rawValue
    case .call(_, let selector, _): selector
    default: ""
    }
  }

  /// The arguments of a function; nil for other expressions.
  public var arguments: [NSExpression]? {
    switch fetchExpression {
    case .function(_, let arguments), .call(_, _, let arguments): arguments.map { NSExpression($0) }
    default: nil
    }
  }

  /// The name of the variable, or of the member of a subquery; empty for other expressions.
  public var variable: String {
    switch fetchExpression {
    case .variable(let name), .subquery(_, let name, _): name
    default: ""
    }
  }

  /// The members of a collection of expressions; nil for other expressions.
  public var collection: Any? {
    switch fetchExpression {
    case .aggregate(let members): return members.map { NSExpression($0) }
    case .subquery(let collection, _, _): return NSExpression(collection)
    default: return nil
    }
  }

  /// Returns an expression for the evaluated object.
  public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.current) }

  /// The key path; empty for other expressions.
  public var keyPath: String {
    if case .keyPath(_, let reference) = fetchExpression { return KeyPathNames.path(of: reference.keyPath) ?? "" }
    return fetchExpression.keys?.joined(separator: ".") ?? ""
  }
  /// The constant's value; nil for other expressions.
  public var constantValue: Any? {
    constantObject ?? fetchExpression.constantValue.flatMap(FoundationValue.any)
  }

  open override var description: String { fetchExpression.format }
  open override func isEqual(_ other: Any?) -> Bool {
    (other as? NSExpression)?.fetchExpression == fetchExpression
  }
  open override var hash: Int { fetchExpression.hashValue }

  private static func constant(_ value: Any?) -> FetchExpression {
    do { return try PredicateArgument.expression(value) } catch {
      stop("An expression can't contain this value: \(error)")
    }
  }

  private static func path(_ text: String) -> FetchExpression {
    guard case .comparison(let comparison)? = try? FetchPredicate(format: "SELF == \(text)", argumentArray: nil) else {
      return .key(text)
    }
    return comparison.right
  }
}
