public import Persist

extension TypedExpression where Value: StorableValue {
  /// Whether the value is one of the given values.
  public func `in`(_ values: some Sequence<Value>) -> TypedPredicate<Root> {
    compared(expression, .in, .aggregate(values.map { .constant($0.stored) }))
  }

  /// Whether the value is in a range that includes both bounds.
  public func between(_ lower: Value, _ upper: Value) -> TypedPredicate<Root> {
    compared(expression, .between, .aggregate([.constant(lower.stored), .constant(upper.stored)]))
  }

  /// This value, or another if it is missing.
  public static func ?? (left: TypedExpression, right: Value) -> TypedExpression {
    TypedExpression(
      .ternary(.compare(left.expression, .notEqual, .value(nil)), left.expression, .constant(right.stored)))
  }
}

extension TypedExpression where Value: StorableValue & Comparable {
  /// Whether the value is in a range that includes both bounds.
  public func between(_ range: ClosedRange<Value>) -> TypedPredicate<Root> {
    between(range.lowerBound, range.upperBound)
  }
}

extension TypedExpression where Value: StorableValue & Numeric {
  /// The absolute value: `abs:` in format strings.
  public var absolute: TypedExpression { TypedExpression(.function(.absolute, [expression])) }
  /// The least integral number that isn't below the value, of the same type: `ceiling:` in format strings. A store
  /// doesn't compute it: the predicate is evaluated in memory.
  public var roundedUp: TypedExpression { TypedExpression(.function(.ceiling, [expression])) }
  /// The greatest integral number that isn't above the value, of the same type: `floor:` in format strings. A store
  /// doesn't compute it: the predicate is evaluated in memory.
  public var roundedDown: TypedExpression { TypedExpression(.function(.floor, [expression])) }
}

extension TypedExpression where Value: ManagedObject {
  /// Whether the object is one of the given objects.
  public func `in`(_ objects: some Sequence<Value>) -> TypedPredicate<Root> {
    compared(expression, .in, .aggregate(objects.map(\.fetchExpression)))
  }
}
