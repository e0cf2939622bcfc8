public import Persist

/// A value that predicates over a class compare: of a property, or computed of properties.
///
/// Its members are those of the object that it stands for. `Value` is without its optional: where there is no value,
/// an expression has none, and `== nil` asks for that.
///
/// ```swift
/// TypedPredicate<Item> { item in item.price * 2 > item.limit && item.category.name == "Tea" }
/// ```
@dynamicMemberLookup
public struct TypedExpression<Root: ManagedObject, Value>: Sendable {
  /// The tree, with key paths in the place of names.
  public let expression: FetchExpression

  public init(_ expression: FetchExpression) { self.expression = expression }

  /// The value of a property.
  public init(_ keyPath: any KeyPath<Root, Value> & Sendable) { expression = .keyPath(keyPath) }

  /// The value of a property that may have none.
  public init(_ keyPath: any KeyPath<Root, Value?> & Sendable) { expression = .keyPath(keyPath) }
}

extension TypedExpression where Value: ManagedObject {
  /// A property of the object.
  public subscript<Member>(
    dynamicMember keyPath: any KeyPath<Value, Member> & Sendable
  ) -> TypedExpression<Root, Member> {
    TypedExpression<Root, Member>(.keyPath(of: expression, KeyPathReference(keyPath)))
  }

  /// A property of the object that may have no value.
  public subscript<Member>(
    dynamicMember keyPath: any KeyPath<Value, Member?> & Sendable
  ) -> TypedExpression<Root, Member> {
    TypedExpression<Root, Member>(.keyPath(of: expression, KeyPathReference(keyPath)))
  }
}
