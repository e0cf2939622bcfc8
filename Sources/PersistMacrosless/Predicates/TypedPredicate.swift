public import Persist

/// A condition on objects of a class, checked by the compiler.
///
/// ```swift
/// let cheap: TypedPredicate<Item> = \.price < 5 && \.category?.name == "Tea"
/// let tagged = TypedPredicate<Item> { $0.tags.contains { $0.name.beginsWith("a") } || !($0.quantity > 3) }
/// ```
///
/// The request that uses the predicate resolves the property names. Its tree is an ordinary predicate, as parsed from a
/// format string; see ``predicate``.
public struct TypedPredicate<Root: ManagedObject>: Sendable, Hashable {
  /// The predicate tree, with key paths instead of names.
  public let predicate: FetchPredicate

  /// Declares an untyped predicate, whose keys the compiler can't check, to apply to objects of the class.
  public init(_ predicate: FetchPredicate) { self.predicate = predicate }

  /// Creates a predicate with a closure, which is passed an expression for the evaluated object.
  public init(_ condition: (TypedExpression<Root, Root>) -> TypedPredicate<Root>) {
    self = condition(TypedExpression(.current))
  }

  /// Creates a predicate that holds for objects whose Boolean property is true.
  public init(_ keyPath: any KeyPath<Root, Bool> & Sendable) {
    self.init(.compare(.keyPath(keyPath), .equal, .value(true)))
  }

  /// Whether the predicate holds for an object, including its unsaved changes.
  public func evaluate(with object: Root) throws -> Bool { try predicate.evaluate(with: object) }
}

extension TypedPredicate {
  /// Whether both predicates hold: `AND`.
  public static func && (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate(left.predicate && right.predicate)
  }

  /// Whether at least one predicate holds: `OR`.
  public static func || (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate(left.predicate || right.predicate)
  }

  /// Whether the predicate doesn't hold: `NOT`.
  ///
  /// Unlike SQL, predicates have two-valued logic: `\.price < 5` is false for an object without a price, and its
  /// negation true.
  public static prefix func ! (predicate: TypedPredicate) -> TypedPredicate { TypedPredicate(!predicate.predicate) }
}

extension FetchRequest where Result: ManagedObject {
  /// The objects of an entity and its subentities for which a predicate holds.
  public init(_ entityName: String, where predicate: TypedPredicate<Result>) {
    self.init(entityName)
    self.predicate = predicate.predicate
  }
}

extension TypedPredicate: CustomStringConvertible {
  /// The predicate in the format language, with key paths in place of property names.
  public var description: String { predicate.description }
}
