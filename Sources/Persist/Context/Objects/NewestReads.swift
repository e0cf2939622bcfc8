/// The rows and members that a pinned context read during a save, from the newest state of its stores.
///
/// A save that fails leaves the context pinned to its state: what the save read is discarded, and read again from that
/// state.
struct NewestReads {
  fileprivate var rows: [ManagedObject] = []
  fileprivate var members: [(owner: ManagedObject, slot: Int)] = []
}

extension ManagedObjectContext {
  /// Records that an object got its row, or was found to have none.
  func noteRow(of object: ManagedObject) {
    if let runningSave, runningSave.readsNewest { runningSave.newestReads.rows.append(object) }
  }

  /// Records that an object got the stored members of a relationship.
  func noteMembers(of object: ManagedObject, at slot: Int) {
    if let runningSave, runningSave.readsNewest { runningSave.newestReads.members.append((object, slot)) }
  }

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
