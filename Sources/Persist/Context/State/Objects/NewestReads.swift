/// The rows and members that a pinned context read during a save, from the newest state of its stores.
///
/// A save that fails leaves the context pinned to its state: what the save read is discarded, and read again from that
/// state.
struct NewestReads {
  var rows: [ManagedObject] = []
  var members: [(owner: ManagedObject, slot: Int)] = []
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
}
