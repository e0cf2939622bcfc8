/// A column of dictionary results: a name and the expression that computes its values.
///
/// A string literal denotes the property, or the path over to-one relationships, with that name:
///
/// ```swift
/// var request = FetchRequest<FetchedRow>("Employee")
/// request.propertiesToFetch = [
///   "department.name", ExpressionDescription("total", .function(.sum, [.key("salary")])),
/// ]
/// request.propertiesToGroupBy = ["department.name"]
/// ```
///
/// With `sum:`, `count:`, `min:`, `max:` or `average:` over a value of each object, the result has one row per group,
/// or a single row if there are no groups.
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The key of the value in each row.
  public var name: String
  /// The expression that computes the column's values, over an object or over the objects of a group.
  public var expression: FetchExpression
  /// The type to convert the values to; nil for the type of the expression.
  public var resultType: AttributeType?

  /// Creates a column.
  ///
  /// - Parameters:
  ///   - name: The key of the value in each row.
  ///   - expression: The expression that computes the value.
  ///   - resultType: The type to convert the values to; nil for the type of the expression.
  public init(_ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil) {
    self.name = name
    self.expression = expression
    self.resultType = resultType
  }

  /// A property, or a path over to-one relationships, under its own name.
  public init(_ path: String) { self.init(path, .key(path)) }

  public init(stringLiteral path: String) { self.init(path) }

  /// The evaluated object itself; its value in each row is its identifier.
  public static let objectID = ExpressionDescription("objectID", .current)
}
