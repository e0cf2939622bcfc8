public import Persist

// Each operator has four overloads, with a key path or an expression on the left and a value or the same kind of
// operand on the right. There are no more, because each overload of an operator slows down the compilation of every use
// of it.

/// Whether the values are equal; two missing values are equal.
public func == <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .equal, .constant(right.stored)) }

public func == <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .equal, .keyPath(right)) }

public func == <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .equal, .constant(right.stored)) }

public func == <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .equal, right.expression) }

/// Whether the values differ.
public func != <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .notEqual, .constant(right.stored)) }

public func != <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .notEqual, .keyPath(right)) }

public func != <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, .constant(right.stored)) }

public func != <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, right.expression) }

/// Whether the left value is less; false if a value is missing.
public func < <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .less, .constant(right.stored)) }

public func < <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .less, .keyPath(right)) }

public func < <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .less, .constant(right.stored)) }

public func < <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .less, right.expression) }

/// Whether the left value is less or equal.
public func <= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .lessOrEqual, .constant(right.stored)) }

public func <= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .lessOrEqual, .keyPath(right)) }

public func <= <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .lessOrEqual, .constant(right.stored)) }

public func <= <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .lessOrEqual, right.expression) }

/// Whether the left value is greater.
public func > <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .greater, .constant(right.stored)) }

public func > <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .greater, .keyPath(right)) }

public func > <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .greater, .constant(right.stored)) }

public func > <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .greater, right.expression) }

/// Whether the left value is greater or equal.
public func >= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .greaterOrEqual, .constant(right.stored)) }

public func >= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .greaterOrEqual, .keyPath(right)) }

public func >= <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .greaterOrEqual, .constant(right.stored)) }

public func >= <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .greaterOrEqual, right.expression) }

/// Whether a to-one relationship's object is the given one.
public func == <Root: ManagedObject, Object: ManagedObject>(
  left: any KeyPath<Root, Object?> & Sendable, right: Object?
) -> TypedPredicate<Root> { compared(.keyPath(left), .equal, .value(right)) }

/// Whether a to-one relationship's object isn't the given one.
public func != <Root: ManagedObject, Object: ManagedObject>(
  left: any KeyPath<Root, Object?> & Sendable, right: Object?
) -> TypedPredicate<Root> { compared(.keyPath(left), .notEqual, .value(right)) }

public func == <Root: ManagedObject, Object: ManagedObject>(
  left: TypedExpression<Root, Object>, right: Object?
) -> TypedPredicate<Root> { compared(left.expression, .equal, .value(right)) }

public func != <Root: ManagedObject, Object: ManagedObject>(
  left: TypedExpression<Root, Object>, right: Object?
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, .value(right)) }

func compared<Root: ManagedObject>(
  _ left: FetchExpression, _ operation: FetchPredicate.Operator, _ right: FetchExpression,
  options: FetchPredicate.Options = []
) -> TypedPredicate<Root> {
  TypedPredicate(.compare(left, operation, right, options: options))
}
