public import Persist

// Each operator has four overloads, with a key path or an expression on the left and a value or the same kind of
// operand on the right. There are no more, because each overload of an operator slows down the compilation of every use
// of it.

/// Whether a property has the given value; nil tests an optional one for a missing value: `IS NULL` in SQL.
public func == <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .equal, .constant(right.stored)) }

/// Whether two properties have the same value, or neither has one.
public func == <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .equal, .keyPath(right)) }

/// Whether an expression has the given value; nil tests for a missing value: `IS NULL` in SQL.
public func == <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .equal, .constant(right.stored)) }

/// Whether two expressions have the same value or the same object, or neither has one.
public func == <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .equal, right.expression) }

/// Whether a property doesn't have the given value, even if it has none, unlike in SQL.
public func != <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .notEqual, .constant(right.stored)) }

/// Whether two properties have different values, even if only one has a value.
public func != <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .notEqual, .keyPath(right)) }

/// Whether an expression doesn't have the given value, even if it has none, unlike in SQL; nil tests for any value.
public func != <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, .constant(right.stored)) }

/// Whether two expressions have different values or objects, even if only one side has any.
public func != <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, right.expression) }

/// Whether a property is less than the given value; false if either is missing. Texts compare by their UTF-8 bytes.
public func < <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .less, .constant(right.stored)) }

/// Whether a property is less than another; false if either has no value.
public func < <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .less, .keyPath(right)) }

/// Whether an expression is less than the given value; false if either is missing.
public func < <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .less, .constant(right.stored)) }

/// Whether an expression is less than another; false if either has no value.
public func < <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .less, right.expression) }

/// Whether a property is less than or equal to the given value; false if either is missing.
public func <= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .lessOrEqual, .constant(right.stored)) }

/// Whether a property is less than or equal to another; false if either has no value.
public func <= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .lessOrEqual, .keyPath(right)) }

/// Whether an expression is less than or equal to the given value; false if either is missing.
public func <= <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .lessOrEqual, .constant(right.stored)) }

/// Whether an expression is less than or equal to another; false if either has no value.
public func <= <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .lessOrEqual, right.expression) }

/// Whether a property is greater than the given value; false if either is missing.
public func > <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .greater, .constant(right.stored)) }

/// Whether a property is greater than another; false if either has no value.
public func > <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .greater, .keyPath(right)) }

/// Whether an expression is greater than the given value; false if either is missing.
public func > <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .greater, .constant(right.stored)) }

/// Whether an expression is greater than another; false if either has no value.
public func > <Root: ManagedObject, Value>(
  left: TypedExpression<Root, Value>, right: TypedExpression<Root, Value>
) -> TypedPredicate<Root> { compared(left.expression, .greater, right.expression) }

/// Whether a property is greater than or equal to the given value; false if either is missing.
public func >= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: Value
) -> TypedPredicate<Root> { compared(.keyPath(left), .greaterOrEqual, .constant(right.stored)) }

/// Whether a property is greater than or equal to another; false if either has no value.
public func >= <Root: ManagedObject, Value: StorableValue>(
  left: any KeyPath<Root, Value> & Sendable, right: any KeyPath<Root, Value> & Sendable
) -> TypedPredicate<Root> { compared(.keyPath(left), .greaterOrEqual, .keyPath(right)) }

/// Whether an expression is greater than or equal to the given value; false if either is missing.
public func >= <Root: ManagedObject, Value: StorableValue>(
  left: TypedExpression<Root, Value>, right: Value?
) -> TypedPredicate<Root> { compared(left.expression, .greaterOrEqual, .constant(right.stored)) }

/// Whether an expression is greater than or equal to another; false if either has no value.
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

/// Whether an expression is the given object, or no object if nil is given.
public func == <Root: ManagedObject, Object: ManagedObject>(
  left: TypedExpression<Root, Object>, right: Object?
) -> TypedPredicate<Root> { compared(left.expression, .equal, .value(right)) }

/// Whether an expression isn't the given object, or is any object if nil is given.
public func != <Root: ManagedObject, Object: ManagedObject>(
  left: TypedExpression<Root, Object>, right: Object?
) -> TypedPredicate<Root> { compared(left.expression, .notEqual, .value(right)) }

func compared<Root: ManagedObject>(
  _ left: FetchExpression, _ operation: FetchPredicate.Operator, _ right: FetchExpression,
  options: FetchPredicate.Options = []
) -> TypedPredicate<Root> {
  TypedPredicate(.compare(left, operation, right, options: options))
}
