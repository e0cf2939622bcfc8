public import Foundation
import Persist

extension NSExpression {
  /// Creates an expression for the members of either of two collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.function(.union, [left.fetchExpression, right.fetchExpression]))
  }

  /// Creates an expression for the members of both of two collections.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.function(.intersection, [left.fetchExpression, right.fetchExpression]))
  }

  /// Creates an expression for the members of a collection that aren't in another one.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.function(.difference, [left.fetchExpression, right.fetchExpression]))
  }

  /// Creates an expression for one of two values. A predicate with a block stops the program.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    do {
      self.init(
        .ternary(try predicate.fetchPredicate(), trueExpression.fetchExpression, falseExpression.fetchExpression))
    } catch {
      stop("A condition can't have this predicate: \(error)")
    }
  }

  /// Creates an expression for the result of a method of an object, which mapping models call.
  public convenience init(forFunction target: NSExpression, selectorName: String, arguments: [Any]?) {
    let expressions = (arguments ?? []).map { argument in
      (argument as? NSExpression ?? NSExpression(forConstantValue: argument)).fetchExpression
    }
    self.init(.call(on: target.fetchExpression, selector: selectorName, expressions))
  }

  /// Blocks can't be part of expressions here.
  @available(*, unavailable, message: "Expressions with blocks don't exist here: filter the results in memory.")
  public convenience init(
    forBlock block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
  ) {
    self.init(.constant(.null))
  }

  /// The object whose method a function calls.
  public var operand: NSExpression {
    switch fetchExpression {
    case .call(let target, _, _): NSExpression(target)
    case .path(let root, _): NSExpression(root)
    default: NSExpression.expressionForEvaluatedObject()
    }
  }

  /// The first collection of a set operation. Stops the program for other expressions, as Core Data does.
  public var left: NSExpression { NSExpression(operands.0) }
  /// The second collection of a set operation. Stops the program for other expressions, as Core Data does.
  public var right: NSExpression { NSExpression(operands.1) }

  private var operands: (FetchExpression, FetchExpression) {
    guard case .function(let function, let arguments) = fetchExpression, arguments.count == 2,
      [.union, .intersection, .difference].contains(function)
    else { stop("'\(self)' isn't a set operation.") }
    return (arguments[0], arguments[1])
  }

  /// The condition. Stops the program for other expressions than conditions and subqueries, as Core Data does.
  public var predicate: NSPredicate {
    switch fetchExpression {
    case .ternary(let predicate, _, _), .subquery(_, _, let predicate): .of(predicate)
    default: stop("'\(self)' has no predicate.")
    }
  }

  /// The value if the condition holds. Stops the program for other expressions, as Core Data does.
  public var `true`: NSExpression { NSExpression(branches.0) }
  /// The value if the condition doesn't hold. Stops the program for other expressions, as Core Data does.
  public var `false`: NSExpression { NSExpression(branches.1) }

  private var branches: (FetchExpression, FetchExpression) {
    guard case .ternary(_, let first, let second) = fetchExpression else { stop("'\(self)' isn't a condition.") }
    return (first, second)
  }
}
