/// The result of migrating copies of a store in both ways, in place and by copying, and comparing the two.
///
/// It exists only if every compared value is the same; see `AutomaticMigrator.provingInPlace()`.
public struct MigrationProof: Sendable, Hashable {
  /// The number of compared objects.
  public var objects: Int
  /// The number of compared values: persistent attributes that aren't derived, and relationships.
  public var values: Int

  /// Creates a result from its parts.
  package init(objects: Int, values: Int) {
    self.objects = objects
    self.values = values
  }
}
