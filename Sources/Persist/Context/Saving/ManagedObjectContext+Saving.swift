import Foundation

extension ManagedObjectContext {
  /// Writes every change to the stores, each store in one transaction.
  ///
  /// New objects have permanent identifiers afterwards. Where the save fails, all changes are kept as they were, so
  /// that they can be mended and saved again. Where the changes belong to several stores, those that come after the one
  /// that failed aren't written either.
  ///
  /// Rows that others changed since they were read, and values that must be unique, are settled by ``mergePolicy``.
  ///
  /// - Throws: validation errors, all at once; ``PersistError/Code/mergeConflict`` and
  ///   ``PersistError/Code/constraintConflict``, with every conflict, where the merge policy doesn't settle them; the
  ///   store's errors; an error that a subclass's own validation threw, as it is.
  /// - Complexity: O(*changes*), however many objects are alive.
  public func save() throws {
    mergeArrivedChanges()
    try throwDeferredError()
    processTrackedChanges()
    (mergedInsertions, mergedDeletions) = ([], [])
    guard hasChanges || tracker != nil else { return try savePendingMetadata() }
    var pass = SavePass(self)
    tell(.willSave)
    try pass.runHooks()
    processTrackedChanges()
    try pass.settlingConflicts { pass in
      try pass.readMissingRows()
      if validatesOnSave { try pass.validate() }
      for writes in try pass.writes() {
        let receipt = try pass.commit(writes)
        try pass.accept(writes, receipt)
      }
    }
    pass.finish()
    undoKeeper?.endEvent()
    deliver(&pass)
    tell(.didSave(pass.saved))
    // Of stores that no changed row belongs to.
    try savePendingMetadata()
  }

  /// Lets those hear of a save who merge by themselves what was saved to the same place, or below.
  private func deliver(_ pass: inout SavePass) {
    if let parent {
      parent.tellChildren(pass.savedChanges, but: self)
    } else if coordinator.savedChangesPost.hasReceivers {
      coordinator.savedChangesPost.deliver(pass.savedChanges, from: mailbox)
    }
    tellChildren(pass.savedChanges)
  }

  /// A child's save leaves the stores alone, their metadata too.
  private func savePendingMetadata() throws {
    if parent == nil { try coordinator.savePendingMetadata() }
  }
}
