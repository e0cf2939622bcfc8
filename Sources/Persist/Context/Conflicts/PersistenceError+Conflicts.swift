extension PersistenceError {
  /// The objects whose rows others changed or deleted, of an error of code ``Code/mergeConflict``.
  public var mergeConflicts: [MergeConflict] { details?.value as? [MergeConflict] ?? [] }

  /// The objects and rows with the same unique values, of an error of code ``Code/constraintConflict``.
  public var constraintConflicts: [ConstraintConflict] { details?.value as? [ConstraintConflict] ?? [] }

  init(_ conflicts: [MergeConflict]) {
    let errors = conflicts.map { conflict in
      let what =
        conflict.newVersionNumber == 0
        ? "was deleted meanwhile"
        : "was changed meanwhile: read as version \(conflict.oldVersionNumber), now \(conflict.newVersionNumber)"
      let id = conflict.sourceObjectID
      return PersistenceError(
        .mergeConflict, at: Place(entity: id.entityName, row: id.primaryKey), "\(id.entityName) \(id.key) \(what).")
    }
    self.init(
      .mergeConflict, at: errors.first?.place ?? .unknown,
      "\(conflicts.count) of the objects to save were changed by others since they were read.",
      fix: "Set the context's mergePolicy, or refresh the objects with mergeChanges and save again.", errors: errors)
    details = Details(conflicts)
  }

  init(_ conflicts: [ConstraintConflict]) {
    let errors = conflicts.map { conflict in
      let values = conflict.constraint.map { conflict.constraintValues[$0].map { "\($0)" } ?? "" }
      let others = conflict.conflictingObjectIDs.count - 1
      let holder =
        conflict.databaseObjectID.map { "\($0)" } ?? "\(others) other\(others == 1 ? "" : "s") of the save"
      return PersistenceError(
        .constraintConflict,
        at: Place(
          entity: conflict.entityName, property: conflict.constraint.joined(separator: ", "),
          row: conflict.databaseObjectID?.primaryKey),
        "\(values.joined(separator: ", ")) for \(conflict.constraint.joined(separator: ", ")) must be unique; "
          + "\(holder) has it too.")
    }
    self.init(
      .constraintConflict, at: errors.first?.place ?? .unknown,
      errors.count == 1 ? errors[0].message : "\(errors.count) values that must be unique come up more than once.",
      fix: "Change or delete one of the objects, or set the context's mergePolicy.", errors: errors)
    details = Details(conflicts)
  }
}
