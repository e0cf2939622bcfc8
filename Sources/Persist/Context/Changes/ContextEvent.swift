/// What a context tells those who observe it, at once and within its isolation.
enum ContextEvent {
  case objectsDidChange(ObjectsDidChange)
  /// New objects have got the identifiers that their rows will have.
  case didObtainPermanentIDs(Set<ManagedObject>)
  /// What others saved is about to be merged. Of changed and deleted objects the context tells only where it has them:
  /// who wants to hear of others has it make faults, and holds these until it hears of them.
  case willMerge(SavedChanges)
  /// Others have written to a store, and what it was isn't known but for objects that the context has.
  case didMergeUnknownChanges
  case willSave
  case didSave(ObjectsDidSave)
}

/// Somebody who observes a context, for as long as this is held.
final class ContextObservation {
  let receive: (ContextEvent) -> Void
  /// Called by the first change after pending changes were processed, and when the context goes.
  let wake: (() -> Void)?
  /// Whether an observation that the context holds itself is to be let go.
  var isEnded = false

  init(wake: (() -> Void)? = nil, receive: @escaping (ContextEvent) -> Void) {
    self.wake = wake
    self.receive = receive
  }
}
