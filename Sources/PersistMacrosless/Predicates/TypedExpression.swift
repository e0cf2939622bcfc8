public import Persist

/// A value that predicates over a class compare: a property, or a computation from properties.
///
/// Its members are those of the object that it represents. `Value` is the non-optional type: any expression may have no
/// value, and `== nil` tests for that.
///
/// ```swift
/// TypedPredicate<Item> { item in item.price * 2 > item.limit && item.category.name == "Tea" }
/// ```
@dynamicMemberLookup
public struct TypedExpression<Root: ManagedObject, Value>: Sendable {
  /// The expression tree, with key paths instead of names.
  public let expression: FetchExpression

  /// Declares an untyped expression, whose keys and type the compiler can't check, to be of type `Value`.
  public init(_ expression: FetchExpression) { self.expression = expression }

  /// The value of a property.
  public init(_ keyPath: any KeyPath<Root, Value> & Sendable) { expression = .keyPath(keyPath) }

  /// The value of an optional property.
  public init(_ keyPath: any KeyPath<Root, Value?> & Sendable) { expression = .keyPath(keyPath) }
}

extension TypedExpression where Value: ManagedObject {
  /// A property of the object.
  public subscript<Member>(
    dynamicMember keyPath: any KeyPath<Value, Member> & Sendable
  ) -> TypedExpression<Root, Member> {
    TypedExpression<Root, Member>(.keyPath(of: expression, KeyPathReference(keyPath)))
  }

  /// An optional property of the object.
  public subscript<Member>(
    dynamicMember keyPath: any KeyPath<Value, Member?> & Sendable
  ) -> TypedExpression<Root, Member> {
    TypedExpression<Root, Member>(.keyPath(of: expression, KeyPathReference(keyPath)))
  }
}
