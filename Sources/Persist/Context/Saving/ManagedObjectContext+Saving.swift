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
    guard hasChanges || tracker != nil else { return try coordinator.savePendingMetadata() }
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
    if coordinator.savedChangesPost.hasReceivers {
      coordinator.savedChangesPost.deliver(pass.savedChanges, from: mailbox)
    }
    tell(.didSave(pass.saved))
    // Of stores that no changed row belongs to.
    try coordinator.savePendingMetadata()
  }
}
