/// Objects, or an object and a row, that have the same values where a uniqueness constraint allows them once.
///
/// A value, as ``MergeConflict`` is; the objects are found in the context by their identifiers.
public struct ConstraintConflict: Sendable {
  /// The entity that declares the constraint.
  public let entityName: String
  /// The names of the constraint's attributes.
  public let constraint: [String]
  /// The values that come up more than once, by attribute.
  public let constraintValues: [String: StoredValue]
  /// The row that has the values already; nil where only objects of the save have them.
  public let databaseObjectID: ManagedObjectID?
  /// What that row holds.
  public let databaseSnapshot: [String: StoredValue]?
  /// The objects of the save that have the values, in the order in which they were made.
  public let conflictingObjectIDs: [ManagedObjectID]
  /// What those hold, in the same order.
  public let conflictingSnapshots: [[String: StoredValue]]

  /// What that row holds, as it was read.
  let row: RowSnapshot?
}

extension ConstraintConflict: Hashable {
  public static func == (left: ConstraintConflict, right: ConstraintConflict) -> Bool {
    left.entityName == right.entityName && left.constraint == right.constraint
      && left.constraintValues == right.constraintValues && left.databaseObjectID == right.databaseObjectID
      && left.databaseSnapshot == right.databaseSnapshot
      && left.conflictingObjectIDs == right.conflictingObjectIDs
      && left.conflictingSnapshots == right.conflictingSnapshots
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(entityName)
    hasher.combine(constraintValues)
    hasher.combine(conflictingObjectIDs)
  }
}
