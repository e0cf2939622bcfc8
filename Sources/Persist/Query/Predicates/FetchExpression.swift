/// What predicates compare, derived attributes hold and mappings assign: a value that is computed for an object.
///
/// ```swift
/// let total = try FetchExpression("items.@sum.price * 2")
/// let name = FetchExpression.key("owner.name")
/// ```
///
/// Operators are functions with their names from the format language: `a + b` is ``FetchFunction/add`` of two
/// arguments.
/// The name isn't `Expression` because Foundation has that one.
public enum FetchExpression: Sendable, Hashable {
  /// A value. A truth value, as `YES` and `TRUE` are, stays one, and compares and computes as the number 1 or 0.
  case constant(StoredValue)
  /// The object that is evaluated: `SELF`.
  case current
  /// `$name`: a value that is given later, or the member that a ``subquery(_:variable:where:)`` looks at.
  case variable(String)
  /// Keys to follow, one after the other, from an object or over all members of a collection. A key that begins with
  /// `@` is a ``CollectionOperator``, applied to what the keys after it lead to.
  indirect case path(of: FetchExpression, [String])
  /// A Swift key path from a managed object; a request puts the names of the properties in its place.
  indirect case keyPath(of: FetchExpression, KeyPathReference)
  /// A member of a list: `list[0]`, `list[FIRST]`.
  indirect case element(of: FetchExpression, Position)
  /// Several values: `{1, 2, 3}`.
  case aggregate([FetchExpression])
  case function(FetchFunction, [FetchExpression])
  /// `FUNCTION(object, "selector:", …)`: a method that is looked up by name when the expression is evaluated.
  indirect case call(on: FetchExpression, selector: String, [FetchExpression])
  /// The members of a collection for which a predicate holds: `SUBQUERY(items, $item, $item.price > 5)`.
  indirect case subquery(FetchExpression, variable: String, where: FetchPredicate)
  /// `TERNARY(predicate, first, second)`.
  indirect case ternary(FetchPredicate, FetchExpression, FetchExpression)
  /// What a request finds, or how many: `FETCH(request, context, NO)`.
  indirect case fetch(request: FetchExpression, context: FetchExpression, countOnly: Bool)

  /// A place in a list.
  public enum Position: Sendable, Hashable {
    case first
    case last
    /// Not a member but how many there are.
    case size
    case index(FetchExpression)
  }
}

extension FetchExpression {
  /// The value at a path of keys from the evaluated object.
  ///
  /// - Parameter path: keys with dots between them, such as `owner.name` or `items.@count`; for a key that holds a
  ///   dot itself, use ``path(of:_:)``.
  public static func key(_ path: String) -> FetchExpression {
    .path(of: .current, path.split(separator: ".").map(String.init))
  }

  /// A value, as a format string's argument gives it: `.value(5)`, `.value(["a", "b"])`, `.value(nil)`.
  public static func value(_ argument: (any FetchArgument)?) -> FetchExpression {
    argument?.fetchExpression ?? .constant(.null)
  }

  /// The keys from the evaluated object, where the expression is nothing else.
  public var keys: [String]? {
    if case .path(of: .current, let keys) = self { keys } else { nil }
  }

  /// The value, where the expression is a constant.
  public var constantValue: StoredValue? {
    if case .constant(let value) = self { value } else { nil }
  }
}
