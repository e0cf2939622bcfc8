extension ManagedObjectContext {
  /// What keeps this context's changes so that they can be undone; nil, as it is at first, keeps nothing.
  ///
  /// What was changed before it is set can't be undone.
  public var undoManager: UndoManager? {
    get { undoKeeper }
    set {
      guard newValue !== undoKeeper else { return }
      undoKeeper?.detach(self)
      undoKeeper = nil
      processPendingChanges()
      undoKeeper = newValue
      newValue?.attach(self)
    }
  }

  /// Takes the last group of changes back; nothing happens without an ``undoManager``.
  public func undo() { undoKeeper?.undo() }

  /// Does again what was undone last.
  public func redo() { undoKeeper?.redo() }

  /// Whether something was changed that the undo manager doesn't know of yet.
  var hasUndoable: Bool { tracker?.entries.isEmpty == false }

  /// Marks an object as deleted; one that was never saved leaves the context.
  func markDeleted(_ object: ManagedObject) {
    let isNew = object.change == .inserted
    leaveChangeSets(object)
    object.change = .deleted
    object.isTouched = true
    if isNew { object.detach() } else { deleted.insert(object) }
  }
}
