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
  /// - Throws: ``PersistenceError/Code/saveFailed`` from within `willSave` and validation of the same context;
  ///   validation errors, all at once; ``PersistenceError/Code/mergeConflict`` and
  ///   ``PersistenceError/Code/constraintConflict``, with every conflict, where the merge policy doesn't settle them;
  ///   the store's errors; an error that a subclass's own validation threw, as it is.
  /// - Complexity: O(*changes*), however many objects are alive.
  public func save() throws {
    guard !isSaving else {
      throw PersistenceError(
        .saveFailed, "save() was called on \(name.map { "the context '\($0)'" } ?? "a context") while it was saving.",
        fix: "Don't save in willSave, in validation, in a merge policy or when a save is announced: what these change "
          + "belongs to the save that runs. didSave may save again.")
    }
    isSaving = true
    formerEnds = []
    defer { (isSaving, formerEnds) = (false, nil) }
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
    refreshStaleEnds()
    isSaving = false
    watchedObjects = []
    pass.finish()
    undoKeeper?.endEvent()
    deliver(&pass)
    tell(.didSave(pass.saved))
    endTrackingIfUnobserved()
    // Of stores that no changed row belongs to.
    try savePendingMetadata()
  }

  /// Saves as ``save()`` does, but waits for other writers without blocking the thread of the context's actor.
  ///
  /// Changes that are made during the wait are saved too.
  ///
  /// ```swift
  /// try await container.viewContext.save(within: .seconds(2))
  /// ```
  ///
  /// - Parameter limit: how long to wait for other writers, of this program and of others, in place of
  ///   ``StoreOptions/busyTimeout``.
  /// - Throws: what ``save()`` throws; ``PersistenceError/Code/storeBusy`` where the wait took longer;
  ///   `CancellationError` where the task was cancelled before the wait was over. Nothing is saved then, and every
  ///   change is kept.
  public func save(within limit: Duration, isolation: isolated (any Actor)? = #isolation) async throws {
    guard parent == nil, hasChanges else { return try save() }
    let stores = persistentStoreCoordinator.openStores.filter { !$0.isReadOnly }
    let busy = PersistenceError(
      .storeBusy, "The wait for other writers has taken longer than the \(limit) that it may.", fix: "Try again.")
    let wait = WaitLimit(limit, orThrow: busy)
    let reservations = try await persistentStoreCoordinator.threads.background.run(within: wait) {
      var reservations: [WriteReservation] = []
      do {
        for store in stores { if let right = try store.reserveWriting(within: limit) { reservations.append(right) } }
        return reservations
      } catch {
        for reservation in reservations { reservation.end() }
        throw error
      }
    }
    defer { for reservation in reservations { reservation.end() } }
    try WriteReservation.using(reservations) { try save() }
  }

  /// Lets those hear of a save who merge by themselves what was saved to the same place, or below.
  private func deliver(_ pass: inout SavePass) {
    if let parent {
      parent.tellChildren(pass.savedChanges, but: self)
    } else if persistentStoreCoordinator.savedChangesPost.hasReceivers {
      persistentStoreCoordinator.savedChangesPost.deliver(pass.savedChanges, from: mailbox)
    }
    tellChildren(pass.savedChanges)
  }

  /// A child's save leaves the stores alone, their metadata too.
  private func savePendingMetadata() throws {
    if parent == nil { try persistentStoreCoordinator.savePendingMetadata() }
  }
}
