public import Persist

// The overloads are those of the comparison operators. Numbers of different types don't mix, as elsewhere in Swift.

/// The sum.
public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.add, .keyPath(left), .constant(right.stored)) }

public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.add, .keyPath(left), .keyPath(right)) }

public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.add, left.expression, .constant(right.stored)) }

public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.add, left.expression, right.expression) }

/// The difference.
public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.subtract, .keyPath(left), .constant(right.stored)) }

public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.subtract, .keyPath(left), .keyPath(right)) }

public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.subtract, left.expression, .constant(right.stored)) }

public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.subtract, left.expression, right.expression) }

/// The product.
public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.multiply, .keyPath(left), .constant(right.stored)) }

public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.multiply, .keyPath(left), .keyPath(right)) }

public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.multiply, left.expression, .constant(right.stored)) }

public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.multiply, left.expression, right.expression) }

/// The quotient: integer division for integers; division by zero gives no value.
public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.divide, .keyPath(left), .constant(right.stored)) }

public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.divide, .keyPath(left), .keyPath(right)) }

public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.divide, left.expression, .constant(right.stored)) }

public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.divide, left.expression, right.expression) }

/// The remainder.
public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.modulus, .keyPath(left), .constant(right.stored)) }

public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.modulus, .keyPath(left), .keyPath(right)) }

public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.modulus, left.expression, .constant(right.stored)) }

public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.modulus, left.expression, right.expression) }

/// The negated value.
public prefix func - <Root: ManagedObject, Value: StorableValue & SignedNumeric>(
  operand: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { TypedExpression(.function(.negate, [operand.expression])) }

private func computed<Root: ManagedObject, Value>(
  _ function: FetchFunction, _ left: FetchExpression, _ right: FetchExpression
) -> TypedExpression<Root, Value> {
  TypedExpression(.function(function, [left, right]))
}
