/// The save that is running in a context: what the rest of the context tells it, and asks it.
protocol RunningSave: AnyObject {
  /// Whether the context reads the newest state of its stores although it is pinned to another one.
  var readsNewest: Bool { get set }
  /// The rows read from the newest state.
  var newestReads: NewestReads { get set }
  /// Records an object's relationship ends before it gets a newer row or rereads its members.
  func recordFormerEnds(of object: ManagedObject)
}

extension ManagedObjectContext {
  /// Records an object's relationship ends before it gets a newer row or rereads its members, if a save is collecting
  /// them.
  func recordFormerEnds(of object: ManagedObject) { runningSave?.recordFormerEnds(of: object) }
}

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
  func recordRow(of object: ManagedObject) {
    if let runningSave, runningSave.readsNewest { runningSave.newestReads.rows.append(object) }
  }

  /// Records that an object got the stored members of a relationship.
  func recordMembers(of object: ManagedObject, at slot: Int) {
    if let runningSave, runningSave.readsNewest { runningSave.newestReads.members.append((object, slot)) }
  }
}
