/// Resolves conflicts with rows that others changed or deleted, with one rule for all of them.
///
/// Afterward, every object is based on the stored row, with the changes that the rule keeps.
struct RowConflictResolution {
  private let context: ManagedObjectContext
  private let rule: ConflictRule
  /// The objects that are resolved together.
  private var settled: Set<ManagedObjectID> = []

  init(in context: ManagedObjectContext, by rule: ConflictRule) {
    self.context = context
    self.rule = rule
  }

  mutating func resolve(_ conflicts: [MergeConflict]) throws {
    settled = Set(conflicts.map(\.sourceObjectID))
    var restored: [ManagedObject] = []
    for conflict in conflicts {
      guard let object = context.registeredObject(for: conflict.sourceObjectID), !isSettled(object, conflict) else {
        continue
      }
      context.recordFormerEnds(of: object)
      switch (object.change, conflict.row) {
      case (.updated, let row?): resolve(object, with: row)
      case (.updated, nil) where rule.keepsChanges: try context.reinsert(object)
      case (.updated, nil): context.removeDeletedByOthers(object)
      case (.deleted, let row?) where rule.keepsChanges: delete(object, standingOn: row)
      case (.deleted, let row?): context.restore(object, standingOn: row, adding: &restored)
      case (.deleted, nil): object.countAsMissing()
      // The object was only checked for conflicts and has no changes to keep.
      case (.none, let row?): object.rebase(onto: row)
      case (.none, nil): context.removeDeletedByOthers(object)
      case (.inserted, let row?):
        context.graph.updateInsteadOfInserting(object)
        resolve(object, with: row)
      case (.inserted, nil): continue
      }
    }
    for object in conflicts.compactMap({ context.registeredObject(for: $0.sourceObjectID) }) + restored {
      object.matchToOneEnds()
    }
    try context.throwDeferredError()
  }

  /// Whether the object is already resolved, for example by a resolver that used another policy.
  private func isSettled(_ object: ManagedObject, _ conflict: MergeConflict) -> Bool {
    guard let row = conflict.row else { return object.loading == .missing }
    return object.snapshot?.version == row.version
  }

  @inline(never)
  private func resolve(_ object: ManagedObject, with row: RowSnapshot) {
    switch rule {
    case .object: object.rebase(onto: row)
    case .store:
      revert(from: object) { hasChanged($0, of: object, in: row) }
      object.rebase(onto: row)
    case .rollback:
      revert(from: object) { _ in true }
      for relationship in object.layout.relationships where relationship.isToMany && !relationship.isTransient {
        object.revertMembers(of: relationship) { settled.contains($0) }
      }
      object.rebase(onto: row)
    case .overwrite: overwrite(row, with: object)
    }
  }

  private func revert(from object: ManagedObject, where isLost: (EntityLayout.StoredSlot) -> Bool) {
    for stored in object.layout.storedSlots where object.differsFromStored(stored) && isLost(stored) {
      object.revert(stored)
    }
    guard rule == .store, !object.toManys.isEmpty else { return }
    for relationship in object.layout.relationships where relationship.isOrdered {
      if object.toManys[relationship.slot]?.isReordered == true { object.toManys[relationship.slot]?.forgetOrder() }
    }
  }

  /// Whether others changed a property since the object read its row.
  private func hasChanged(_ stored: EntityLayout.StoredSlot, of object: ManagedObject, in row: RowSnapshot) -> Bool {
    guard let snapshot = object.snapshot else { return false }
    return !object.holds(stored, in: snapshot, as: row)
  }

  /// Turns all of the object's values into changes on top of the stored row.
  private func overwrite(_ row: RowSnapshot, with object: ManagedObject) {
    let slots = object.layout.storedSlots.filter { stored in
      // An unchanged one-to-one relationship also belongs to its partner, whose row others have written.
      let inverse = object.layout.relationshipsBySlot[stored.slot]?.inverse
      return object.differsFromStored(stored)
        || (inverse?.isToMany != false && hasChanged(stored, of: object, in: row))
    }
    let values = slots.map { object.presentValue(at: $0.slot) }
    object.rebase(onto: row)
    for (stored, value) in zip(slots, values) { object.setPending(value, at: stored.slot) }
  }

  /// Keeps a deletion, and propagates it to objects that others have since related to the deleted one.
  private func delete(_ object: ManagedObject, standingOn row: RowSnapshot) {
    object.find(row)
    for members in object.toManys { members?.forgetOrder() }
    DeletePropagation(in: context).propagateAgain(from: object)
  }
}
