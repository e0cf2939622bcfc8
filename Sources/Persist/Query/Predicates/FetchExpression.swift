/// A value computed for an object, used in predicates, derived attributes and mappings.
///
/// ```swift
/// let total = try FetchExpression("items.@sum.price * 2")
/// let name = FetchExpression.key("owner.name")
/// ```
///
/// Operators are functions named as in the format language: `a + b` is ``FetchFunction/add`` of two arguments.
/// It isn't named `Expression` because Foundation has a type of that name.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public indirect enum FetchExpression: Sendable, Hashable {
  /// A value. A Boolean, such as `YES` or `TRUE`, stays one, and compares and computes as the number 1 or 0.
  case constant(StoredValue)
  /// The evaluated object: `SELF`.
  case current
  /// `$name`: a value that is substituted later, or the current member of a ``subquery(_:variable:where:)``.
  case variable(String)
  /// Keys to follow in order, from an object or from all members of a collection. A key beginning with `@` is a
  /// ``CollectionOperator``, applied to the values of the keys after it.
  case path(of: FetchExpression, [String])
  /// A Swift key path from a managed object; a request replaces it with the names of the properties.
  case keyPath(of: FetchExpression, KeyPathReference)
  /// A member of a list: `list[0]`, `list[FIRST]`.
  case element(of: FetchExpression, Position)
  /// Several values: `{1, 2, 3}`.
  case aggregate([FetchExpression])
  /// A function of the format language, applied to arguments in order: `abs:(price)`, `price * 2`.
  case function(FetchFunction, [FetchExpression])
  /// `FUNCTION(object, "selector:", …)`: a method looked up by name during evaluation.
  case call(on: FetchExpression, selector: String, [FetchExpression])
  /// The members of a collection that match a predicate: `SUBQUERY(items, $item, $item.price > 5)`.
  case subquery(FetchExpression, variable: String, where: FetchPredicate)
  /// `TERNARY(predicate, first, second)`.
  case ternary(FetchPredicate, FetchExpression, FetchExpression)
  /// The results of a request, or their number: `FETCH(request, context, NO)`.
  case fetch(request: FetchExpression, context: FetchExpression, countOnly: Bool)

  /// A position in a list.
  public enum Position: Sendable, Hashable {
    /// The first member; null for an empty list: `list[FIRST]`.
    case first
    /// The last member; null for an empty list: `list[LAST]`.
    case last
    /// The number of members, rather than a member.
    case size
    /// The member at an index, from 0; null if there is none. For a composite value, the element with a name.
    case index(FetchExpression)
  }
}

extension FetchExpression {
  /// The value at a path of keys from the evaluated object.
  ///
  /// - Parameter path: Keys separated by dots, such as `owner.name` or `items.@count`; for a key that contains a dot,
  ///   use ``path(of:_:)``.
  public static func key(_ path: String) -> FetchExpression { .path(of: .current, path.dottedKeys) }

  /// A value, as for an argument of a format string: `.value(5)`, `.value(["a", "b"])`, `.value(nil)`.
  public static func value(_ argument: (any FetchArgument)?) -> FetchExpression {
    argument?.fetchExpression ?? .constant(.null)
  }

  /// The keys, if the expression is a plain path from the evaluated object; otherwise nil.
  public var keys: [String]? {
    if case .path(of: .current, let keys) = self { keys } else { nil }
  }

  /// The value, if the expression is a constant; otherwise nil.
  public var constantValue: StoredValue? {
    if case .constant(let value) = self { value } else { nil }
  }
}
