public import Persist

/// A condition on objects of a class, which the compiler has checked.
///
/// ```swift
/// let cheap: TypedPredicate<Item> = \.price < 5 && \.category?.name == "Tea"
/// let tagged = TypedPredicate<Item> { $0.tags.contains { $0.name.beginsWith("a") } || !($0.quantity > 3) }
/// ```
///
/// The names of the properties are found by the request that it is given to. It is one value with the predicates of
/// the format language; see ``predicate``.
public struct TypedPredicate<Root: ManagedObject>: Sendable, Hashable {
  /// The tree, with key paths in the place of names.
  public let predicate: FetchPredicate

  /// A predicate whose keys the compiler can't check, as being about objects of the class.
  public init(_ predicate: FetchPredicate) { self.predicate = predicate }

  /// A predicate made by a closure, which is given what stands for the evaluated object.
  public init(_ condition: (TypedExpression<Root, Root>) -> TypedPredicate<Root>) {
    self = condition(TypedExpression(.current))
  }

  /// An object's truth value.
  public init(_ keyPath: any KeyPath<Root, Bool> & Sendable) {
    self.init(.compare(.keyPath(keyPath), .equal, .value(true)))
  }

  /// Whether the predicate holds for an object, unsaved changes included.
  public func evaluate(with object: Root) throws -> Bool { try predicate.evaluate(with: object) }
}

extension TypedPredicate {
  public static func && (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate(left.predicate && right.predicate)
  }

  public static func || (left: TypedPredicate, right: TypedPredicate) -> TypedPredicate {
    TypedPredicate(left.predicate || right.predicate)
  }

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
  public var description: String { predicate.description }
}
