extension ManagedObjectContext {
  /// Puts back what a transaction of a history changed, as unsaved changes of this context.
  ///
  /// ```swift
  /// let last = try context.execute(.fetchHistory(after: token)).transactions.last
  /// if let last { try context.revert(last) }
  /// try context.save()
  /// ```
  ///
  /// Updated objects get their old values, inserted ones are deleted, and deleted ones are inserted again under their
  /// former identifiers. Members of to-many relationships are added and removed again one by one; members that return
  /// to an ordered relationship are appended. Objects that are related to a deleted insertion by later transactions
  /// remain, without it. It works after a restart, and for transactions of other programs.
  ///
  /// An object is in conflict if later transactions changed the same properties or deleted it, and an insertion if
  /// later transactions changed the object. Changes that were taken back don't count, so that transactions can be
  /// reverted one by one, from the last one. The ``mergePolicy`` decides: ``MergePolicy/error`` and custom policies
  /// throw, and nothing is changed; ``MergePolicy/mergeByPropertyStoreTrump`` leaves the properties in conflict as they
  /// are, and ``MergePolicy/rollback`` the objects; ``MergePolicy/mergeByPropertyObjectTrump`` and
  /// ``MergePolicy/overwrite`` put back the old values. Objects that were deleted later stay deleted.
  ///
  /// The store must have kept old values at the time: see ``StoreOptions/historyKeeps``.
  ///
  /// - Parameter transaction: A transaction with its changes, of a store of this context's coordinator.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the transaction has no changes or old values;
  ///   ``PersistenceError/Code/mergeConflict`` for conflicts; ``PersistenceError/Code/historyTokenExpired`` if later
  ///   changes aren't recorded completely; the store's errors.
  public func revert(_ transaction: HistoryTransaction) throws {
    mergeArrivedChanges()
    try throwDeferredError()
    let pass = try RevertPass(transaction, in: self)
    try pass.requireNoConflicts()
    merge(pass.concerned, holdingNewObjects: false, leavingConflicts: true)
    try throwDeferredError()
    observedChanges.begin()
    pass.run()
    observedChanges.end()
    try throwDeferredError()
  }
}
