public import Persist

/// Columns that the compiler has checked.
extension ExpressionDescription {
  /// A column that is computed of the properties of a class.
  ///
  /// ```swift
  /// ExpressionDescription("worth", TypedExpression(\Item.quantity) * 2)
  /// ```
  public init<Root, Value>(_ name: String, _ expression: TypedExpression<Root, Value>) {
    self.init(name, expression.expression)
  }

  /// The sum of a property over a group of objects, or over all.
  public static func sum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.sum, keyPath, name) }

  /// The mean of a property over a group of objects, or over all.
  public static func average<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.average, keyPath, name) }

  /// The least value of a property in a group of objects, or in all.
  public static func minimum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.minimum, keyPath, name) }

  /// The greatest value of a property in a group of objects, or in all.
  public static func maximum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.maximum, keyPath, name) }

  /// How many objects a group has, or how many there are.
  public static func count(as name: String) -> ExpressionDescription { ExpressionDescription(name, .key("@count")) }

  private static func aggregate(
    _ function: FetchFunction, _ keyPath: any AnyKeyPath & Sendable, _ name: String
  ) -> ExpressionDescription {
    ExpressionDescription(name, .function(function, [.keyPath(keyPath)]))
  }
}
