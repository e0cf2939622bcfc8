public import Foundation
package import Persist

// Unchecked: expressions are immutable.
/// An expression in a predicate, a fetched column or a mapping.
///
/// Foundation's class of this name can't be used outside of Apple's platforms.
open class NSExpression: NSObject, @unchecked Sendable {
  package let fetchExpression: FetchExpression

  package init(_ expression: FetchExpression) { fetchExpression = expression }

  /// Creates an expression from a text in the format language, which stops the program if it is malformed.
  public init(format: String, _ arguments: Any?...) {
    do {
      let predicate = try FetchPredicate(
        format: "SELF == (\(format))", argumentArray: arguments.map { PredicateArgument.persist($0 ?? NSNull()) })
      guard case .comparison(let comparison) = predicate else { stop("'\(format)' isn't an expression.") }
      fetchExpression = comparison.right
    } catch {
      stop("The expression '\(format)' can't be created: \(error)")
    }
  }

  /// Creates an expression for a constant.
  ///
  /// - Parameter value: A value that an attribute can have, an object, or a collection; others stop the program.
  public init(forConstantValue value: Any?) { fetchExpression = Self.constant(value) }

  /// Creates an expression for the value at a key path of the evaluated object.
  public init(forKeyPath path: String) { fetchExpression = Self.path(path) }

  /// Creates an expression for the value at a key path of the evaluated object.
  public init<Root, Value>(forKeyPath path: KeyPath<Root, Value>) {
    fetchExpression = .keyPath(of: .current, KeyPathReference(ofProperties: path))
  }

  /// Creates an expression for a variable, without its dollar sign.
  public init(forVariable name: String) { fetchExpression = .variable(name) }

  /// - Parameter name: A function of NSExpression, such as `sum:` or `uppercase:`.
  public init(forFunction name: String, arguments: [Any]) {
    let expressions = arguments.map { argument in
      (argument as? NSExpression)?.fetchExpression ?? Self.constant(argument)
    }
    guard let function = FetchFunction(rawValue: name) else { stop("There is no function '\(name)' in expressions.") }
    fetchExpression = .function(function, expressions)
  }

  /// Returns an expression for the evaluated object.
  public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.current) }

  /// The key path; empty for other expressions.
  public var keyPath: String { fetchExpression.keys?.joined(separator: ".") ?? "" }
  /// The constant's value; nil for other expressions.
  public var constantValue: Any? { fetchExpression.constantValue.flatMap(FoundationValue.any) }

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
