public import Persist

/// Columns checked by the compiler.
extension ExpressionDescription {
  /// Creates a column computed from properties of a class.
  ///
  /// ```swift
  /// ExpressionDescription("worth", TypedExpression(\Item.quantity) * 2)
  /// ```
  public init<Root, Value>(_ name: String, _ expression: TypedExpression<Root, Value>) {
    self.init(name, expression.expression)
  }

  /// The sum of a property over a group of objects, or over all objects.
  public static func sum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.sum, of: keyPath, named: name) }

  /// The average of a property over a group of objects, or over all objects.
  public static func average<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.average, of: keyPath, named: name) }

  /// The minimum of a property over a group of objects, or over all objects.
  public static func minimum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.minimum, of: keyPath, named: name) }

  /// The maximum of a property over a group of objects, or over all objects.
  public static func maximum<Root: ManagedObject>(
    of keyPath: any PartialKeyPath<Root> & Sendable, as name: String
  ) -> ExpressionDescription { aggregate(.maximum, of: keyPath, named: name) }

  /// The number of objects in a group, or of all objects.
  public static func count(as name: String) -> ExpressionDescription { ExpressionDescription(name, .key("@count")) }

  private static func aggregate(
    _ function: FetchFunction, of keyPath: any AnyKeyPath & Sendable, named name: String
  ) -> ExpressionDescription {
    ExpressionDescription(name, .function(function, [.keyPath(keyPath)]))
  }
}
