extension ManagedObjectContext.UndoManager: ChangeRecorder {}

extension ManagedObjectContext {
  /// The undo manager that records this context's changes; nil by default, which records nothing.
  ///
  /// Changes made before it is set can't be undone.
  public var undoManager: UndoManager? {
    get { changeRecorder as? UndoManager }
    set {
      let former = undoManager
      guard newValue !== former else { return }
      former?.detach(self)
      changeRecorder = nil
      processPendingChanges()
      changeRecorder = newValue
      newValue?.attach(self)
    }
  }

  /// Undoes the last group of changes; does nothing without an ``undoManager``.
  public func undo() { undoManager?.undo() }

  /// Redoes the group that was undone last.
  public func redo() { undoManager?.redo() }

  /// Whether there are changes that the undo manager hasn't recorded yet.
  var hasUndoable: Bool { tracker?.entries.isEmpty == false }

  /// Reverts the deletion of an object that has a row, with its unsaved changes, because a child context did so.
  func bringBack(_ object: ManagedObject) {
    graph.undelete(object)
    object.rebaseMembers()
    object.matchOwnEnds()
    object.reclaimOneWayMembers()
    removeAddedOneWayMembersFromReturnedOwners()
    // Members that the child repeats are no additions, which undoing its save would remove.
    for relationship in object.layout.relationships where relationship.isOneWayToMany {
      _ = object.memberIDs(of: relationship)
    }
  }

  /// Marks an object as deleted; an object that was never saved leaves the context.
  func markDeleted(_ object: ManagedObject) {
    let isNew = object.change == .inserted
    graph.delete(object)
    if isNew { detachNew(object) }
  }

  /// Marks an object for deletion and removes it from its relationships, without the effects of delete rules on related
  /// objects, and without hooks: their own changes are reverted or applied separately.
  func deleteAlone(_ object: ManagedObject) {
    for relationship in object.layout.relationships where relationship.inverse != nil {
      if relationship.isToMany {
        object.replaceMembers(with: [], of: relationship)
      } else {
        object.setToOne(nil, at: relationship.slot)
      }
    }
    object.leaveOneWayOwners()
    markDeleted(object)
  }
}
