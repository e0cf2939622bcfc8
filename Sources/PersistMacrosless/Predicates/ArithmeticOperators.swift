public import Persist

// The overloads are those of the comparison operators. Numbers of different types don't mix, as elsewhere in Swift.

/// The sum of a property and a constant; no value if the property has none.
///
/// An integer result of any operator here that doesn't fit into 64 bits becomes a floating-point number, as in SQLite.
public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.add, .keyPath(left), .constant(right.stored)) }

/// The sum of two properties; no value if either has none.
public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.add, .keyPath(left), .keyPath(right)) }

/// The sum of an expression and a constant; no value if the expression has none.
public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.add, left.expression, .constant(right.stored)) }

/// The sum of two expressions; no value if either has none.
public func + <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.add, left.expression, right.expression) }

/// The difference of a property and a constant; no value if the property has none.
public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.subtract, .keyPath(left), .constant(right.stored)) }

/// The difference of two properties; no value if either has none.
public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.subtract, .keyPath(left), .keyPath(right)) }

/// The difference of an expression and a constant; no value if the expression has none.
public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.subtract, left.expression, .constant(right.stored)) }

/// The difference of two expressions; no value if either has none.
public func - <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.subtract, left.expression, right.expression) }

/// The product of a property and a constant; no value if the property has none.
public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.multiply, .keyPath(left), .constant(right.stored)) }

/// The product of two properties; no value if either has none.
public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.multiply, .keyPath(left), .keyPath(right)) }

/// The product of an expression and a constant; no value if the expression has none.
public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.multiply, left.expression, .constant(right.stored)) }

/// The product of two expressions; no value if either has none.
public func * <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.multiply, left.expression, right.expression) }

/// The quotient of a property and a constant: integer division for integers; division by zero gives no value.
public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.divide, .keyPath(left), .constant(right.stored)) }

/// The quotient of two properties; no value if either has none or the divisor is 0.
public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.divide, .keyPath(left), .keyPath(right)) }

/// The quotient of an expression and a constant; no value if the expression has none or the constant is 0.
public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.divide, left.expression, .constant(right.stored)) }

/// The quotient of two expressions; no value if either has none or the divisor is 0.
public func / <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedExpression<Root, Value> { computed(.divide, left.expression, right.expression) }

/// The remainder of a property and a constant, with the sign of the property; division by zero gives no value.
///
/// The store computes it from integer properties; a predicate over any other remainder is evaluated in memory.
public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedExpression<Root, Value> { computed(.modulus, .keyPath(left), .constant(right.stored)) }

/// The remainder of two properties; no value if either has none or the divisor is 0.
public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedExpression<Root, Value> { computed(.modulus, .keyPath(left), .keyPath(right)) }

/// The remainder of an expression and a constant; no value if the expression has none or the constant is 0.
public func % <Root: ManagedObject, Value: StorableValue & Numeric>(
  left: TypedExpression<Root, Value>, right: Value
) -> TypedExpression<Root, Value> { computed(.modulus, left.expression, .constant(right.stored)) }

/// The remainder of two expressions; no value if either has none or the divisor is 0.
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
  TypedExpression(.chained(function, left, right))
}
