/// The save that is running in a context: what the rest of the context tells it, and asks it.
protocol RunningSave: AnyObject {
  /// Whether the context reads the newest state of its stores although it is pinned to another one.
  var readsNewest: Bool { get set }
  /// The rows read from the newest state.
  var newestReads: NewestReads { get set }
  /// Records an object's relationship ends before it gets a newer row or rereads its members.
  func noteFormerEnds(of object: ManagedObject)
}

extension ManagedObjectContext {
  /// Records an object's relationship ends before it gets a newer row or rereads its members, if a save is collecting
  /// them.
  func noteFormerEnds(of object: ManagedObject) { runningSave?.noteFormerEnds(of: object) }
}
