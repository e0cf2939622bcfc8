/// The computation of a destination object's property.
///
/// ```swift
/// let name = try PropertyMapping("fullName", "$source.name")
/// ```
public struct PropertyMapping: Sendable, Hashable {
  /// The name of the destination entity's attribute or relationship.
  public var name: String
  /// The value of the property; nil leaves an attribute's default, and a relationship empty.
  ///
  /// | variable | stands for |
  /// |---|---|
  /// | `$source` | the source object |
  /// | `$destination` | the object created for it |
  /// | `$manager` | the ``MigrationManager`` |
  /// | `$entityMapping` | the ``EntityMapping``: `$entityMapping.name` and the like |
  /// | `$entityPolicy` | the ``EntityMigrationPolicy`` |
  public var valueExpression: FetchExpression?
  /// Custom data for the policy.
  public var userInfo: [String: StoredValue]

  /// Creates the mapping of a property of the destination entity.
  ///
  /// - Parameters:
  ///   - name: The name of the attribute or relationship.
  ///   - valueExpression: The value; nil leaves an attribute's default, and a relationship empty.
  ///   - userInfo: Custom data for the policy.
  public init(_ name: String, valueExpression: FetchExpression?, userInfo: [String: StoredValue] = [:]) {
    self.name = name
    self.valueExpression = valueExpression
    self.userInfo = userInfo
  }

  /// - Parameters:
  ///   - name: the name of the destination property.
  ///   - format: an expression in the format language, such as `$source.price * 100`.
  ///   - arguments: the values of the format's placeholders.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column of the error and what was expected there.
  public init(_ name: String, _ format: String, _ arguments: (any FetchArgument)?...) throws {
    self.init(name, valueExpression: try FetchExpression(format, arguments: arguments))
  }
}
