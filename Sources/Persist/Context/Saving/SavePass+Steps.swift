extension SavePass: RunningSave {
  func recordFormerEnds(of object: ManagedObject) { formerEnds.append(FormerEnds(of: object)) }

  /// Performs the save.
  func run() throws {
    context.mergeArrivedChanges()
    try context.throwDeferredError()
    context.processTrackedChanges()
    context.lastMerge = nil
    guard context.hasChanges || context.tracker != nil else { return try savePendingMetadata() }
    context.send(.willSave)
    try runHooks()
    context.processTrackedChanges()
    do {
      try context.readingNewest { try retryingAfterConflicts(write) }
    } catch {
      if keepOnlyAccepted() { finish() }
      throw error
    }
    refreshStaleEnds()
    context.oneWay.forgetChanges()
    context.graph.forgetWatched()
    finish()
    context.endTrackingIfUnobserved()
    // A store without changed rows may have new metadata.
    try savePendingMetadata()
  }

  /// Validates the changes, and writes them to one store after another.
  private func write() throws {
    try moveOneWayMembers()
    try readMissingRows()
    if context.validatesOnSave { try validate() }
    var waiting = Array(try writes().reversed())
    while var writes = waiting.popLast() {
      let receipt = try commit(writes)
      adopt(receipt, of: writes)
      // Releases the values, so that accepting the save can take them from the objects one by one.
      writes.rows = RowWrites()
      try accept(writes, receipt)
      if !waiting.isEmpty { recordAccepted(writes) }
      context.advanceQueryGeneration()
    }
  }

  /// Calls the hooks of saved objects and announces the save. A hook may save the context again.
  private func finish() {
    context.runningSave = nil
    callDidSave()
    context.changeRecorder?.endEvent()
    deliver()
    context.didWrite?({ savedChanges })
    context.send(.didSave(saved))
  }

  /// Notifies contexts that automatically merge saves to the same place, and child contexts.
  private func deliver() {
    let coordinator = context.persistentStoreCoordinator
    if let parent = context.parent {
      parent.notifyChildren(savedChanges, but: context)
    } else if coordinator.savedChangesPost.hasReceivers {
      coordinator.savedChangesPost.deliver(savedChanges, from: context.mailbox)
    }
    context.notifyChildren(savedChanges)
  }

  /// A child's save doesn't affect the stores, including their metadata.
  private func savePendingMetadata() throws {
    if context.parent == nil { try context.persistentStoreCoordinator.savePendingMetadata() }
  }
}

extension SavePass {
  /// Rereads the rows of objects whose side of a relationship with an object with a newer row is outdated.
  func refreshStaleEnds() {
    var seen: Set<ObjectIdentifier> = []
    while !formerEnds.isEmpty {
      let waiting = formerEnds
      formerEnds = []
      context.adoptNewerRows(of: waiting.flatMap(\.stale).filter { seen.insert(ObjectIdentifier($0)).inserted })
    }
  }
}
