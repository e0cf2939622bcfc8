extension ManagedObjectContext {
  /// Whether a save is running, which must see others' saved changes.
  var isReadingNewest: Bool { runningSave?.readsNewest == true }

  /// The view that the context reads instead of its stores; nil for the stores, whose newest state a save reads.
  var readView: (any ReadView)? {
    if isReadingNewest { return nil }
    if let queryGeneration { return queryGeneration }
    return replicaView
  }

  /// Makes the stores' tables read the present view.
  func applyReadView() {
    for tables in storeTables { tables.read(readView) }
  }
}
