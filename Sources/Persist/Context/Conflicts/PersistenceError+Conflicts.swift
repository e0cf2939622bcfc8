extension PersistenceError {
  /// The objects whose rows others changed or deleted, for an error with the code ``Code/mergeConflict``.
  public var mergeConflicts: [MergeConflict] { details?.value as? [MergeConflict] ?? [] }

  /// The objects and rows with the same unique values, for an error with the code ``Code/constraintConflict``.
  public var constraintConflicts: [ConstraintConflict] { details?.value as? [ConstraintConflict] ?? [] }

  /// Creates the error of a save whose rows others changed.
  ///
  /// - Parameter conflicts: The conflicts, at least one. A single one becomes the error itself, several its ``errors``.
  init(_ conflicts: [MergeConflict]) {
    self = .combining(
      conflicts.map { Self($0) }, as: .mergeConflict,
      "\(conflicts.count) of the objects to save were changed by others since they were read.")
    fix = "Set the context's mergePolicy, or refresh the objects with mergeChanges and save again."
    details = Details(conflicts)
  }

  /// Creates the error of a save with duplicate values that must be unique.
  ///
  /// - Parameter conflicts: The conflicts, at least one. A single one becomes the error itself, several its ``errors``.
  init(_ conflicts: [ConstraintConflict]) {
    self = .combining(
      conflicts.map { Self($0) }, as: .constraintConflict,
      "\(conflicts.count) values that must be unique occur more than once.")
    fix = "Change or delete one of the objects, or set the context's mergePolicy."
    details = Details(conflicts)
  }

  private init(_ conflict: MergeConflict) {
    let id = conflict.sourceObjectID
    let (old, new) = (conflict.oldVersionNumber, conflict.newVersionNumber)
    let event =
      new == 0 ? "was deleted by others since it was read"
      : "was changed by others since it was read, from version \(old) to \(new)"
    self.init(
      .mergeConflict, at: Place(entity: id.entityName, row: id.primaryKey), "\(id.nameInMessages) \(event).")
  }

  private init(_ conflict: ConstraintConflict) {
    let values = conflict.constraint.map { conflict.constraintValues[$0].map { "\($0)" } ?? "" }
    let names = conflict.constraint.joined(separator: ", ")
    let others = conflict.conflictingObjectIDs.count - 1
    let holder =
      conflict.databaseObjectID.map { "\($0.nameInMessages) has it too" }
      ?? (others == 1 ? "another object of the save has it too" : "\(others) other objects of the save have it too")
    self.init(
      .constraintConflict,
      at: Place(entity: conflict.entityName, property: names, row: conflict.databaseObjectID?.primaryKey),
      "\(values.joined(separator: ", ")) for \(names) must be unique; \(holder).")
  }
}

extension ManagedObjectID {
  /// The entity, and the row if there is one.
  fileprivate var nameInMessages: String { primaryKey.map { "\(entityName) \($0)" } ?? "An unsaved \(entityName)" }
}
