extension ManagedObjectContext {
  /// Makes objects that the running save has read from the newest state read their rows again from the pinned one.
  func discard(_ newestReads: NewestReads) {
    observedChanges.begin()
    defer { observedChanges.end() }
    // Prefetched rows are outdated too.
    graph.outdateRowsAhead()
    for (owner, slot) in newestReads.members where owner.table?.context === self && !owner.toManys.isEmpty {
      owner.toManys[slot]?.forgetStored()
    }
    for object in newestReads.rows where object.table?.context === self { object.discardNewestRow() }
  }
}

extension ManagedObject {
  /// Turns the object into a fault without a row, whose unsaved changes remain.
  fileprivate final func discardNewestRow() {
    if change != .inserted, loading != .fault || snapshot != nil { discardRow() }
  }
}
