/// Objects, or objects and a row, with the same values of a uniqueness constraint.
///
/// A value, like ``MergeConflict``; the objects can be looked up in the context by their identifiers.
public struct ConstraintConflict: Sendable {
  /// The entity that declares the constraint.
  public let entityName: String
  /// The names of the constraint's properties: attributes, elements of composite attributes and to-one relationships.
  public let constraint: [String]
  /// The duplicate values, by these names.
  public let constraintValues: [String: StoredValue]
  /// The row that already has the values; nil if only objects of the save have them.
  public let databaseObjectID: ManagedObjectID?
  /// The values of that row.
  public let databaseSnapshot: [String: StoredValue]?
  /// The objects of the save that have the values: updated objects, then inserted ones.
  public let conflictingObjectIDs: [ManagedObjectID]
  /// The values of those objects, in the same order.
  public let conflictingSnapshots: [[String: StoredValue]]

  /// The snapshot of that row.
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
