/// Stored values of a property that its Swift type can't read, such as a case that an enumeration no longer has.
///
/// They aren't lost: the store keeps them, and the property reads as its default.
public struct UnreadableValues: Sendable, Hashable {
  /// One unreadable part of a value.
  public struct Example: Sendable, Hashable {
    /// The key of the row.
    public let row: Int64
    /// The names that lead to the part from the object, such as `address.kind`; only the property's name for a value
    /// that can't be read as a whole.
    public let keyPath: String
    /// The value and the type, as the end of a sentence: `is 'gone', which Kind can't read`.
    public let reason: String
  }

  /// The number of examples that are recorded; more are only counted.
  static let exampleLimit = 3

  /// The name of the entity that the rows have in the new version.
  public let entity: String
  /// The name of the property.
  public let property: String
  /// The number of rows with an unreadable part.
  public internal(set) var rows: Int
  /// The first unreadable parts.
  public internal(set) var examples: [Example]
}

extension UnreadableValues: CustomStringConvertible {
  public var description: String {
    let shown = examples.map { "'\($0.keyPath)' of row \($0.row) \($0.reason)" }
    return "\(entity).\(property): \(Measure.count(rows, "row")); \(shown.joined(separator: "; "))"
  }
}

extension UnreadableValues: Encodable {}
extension UnreadableValues.Example: Encodable {}

extension MigrationBlocker {
  /// The blocker for unreadable values, if the migrator refuses loss.
  init(refusing values: UnreadableValues) {
    self.init(
      .typeMismatch, entity: values.entity, property: values.property,
      what: "The type of the property can't read stored values. \(values).",
      fix: "Let the type read them: name renamed cases, parts and members. Or open the store with .automaticMigration, "
        + "which keeps them in the store, and set them.")
  }
}
