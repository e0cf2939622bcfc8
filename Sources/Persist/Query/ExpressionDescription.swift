/// A column of dictionary results: a name and what is computed for it.
///
/// A string literal stands for the property, or the path over to-one relationships, of that name:
///
/// ```swift
/// var request = FetchRequest<FetchedRow>("Employee")
/// request.propertiesToFetch = [
///   "department.name", ExpressionDescription("total", .function(.sum, [.key("salary")])),
/// ]
/// request.propertiesToGroupBy = ["department.name"]
/// ```
///
/// Of `sum:`, `count:`, `min:`, `max:` and `average:` over a value of each object one row is made for each group, or
/// one for all.
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The key of the value in each row.
  public var name: String
  public var expression: FetchExpression
  /// The type that the values are to have; nil for the type that the expression gives.
  public var resultType: AttributeType?

  public init(_ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil) {
    self.name = name
    self.expression = expression
    self.resultType = resultType
  }

  /// A property, or a path over to-one relationships, under its own name.
  public init(_ path: String) { self.init(path, .key(path)) }

  public init(stringLiteral path: String) { self.init(path) }

  /// The evaluated object itself, whose value in each row is its identifier.
  public static let objectID = ExpressionDescription("objectID", .current)
}
