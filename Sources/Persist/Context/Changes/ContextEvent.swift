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
  /// A context above has written objects of these entities, so that what a fetch finds by them may have changed.
  case parentDidSave([EntityLayout])
  case willSave
  case didSave(ObjectsDidSave)
}

/// Somebody who observes a context, for as long as this is held.
final class ContextObservation {
  let receive: (ContextEvent) -> Void
  /// Called by the first change after pending changes were processed, and when the context goes.
  let wake: (() -> Void)?
  /// Whether there still is somebody to receive, for an observation that the context holds itself.
  let isNeeded: () -> Bool

  init(
    wake: (() -> Void)? = nil, isNeeded: @escaping () -> Bool = { true }, receive: @escaping (ContextEvent) -> Void
  ) {
    self.wake = wake
    self.isNeeded = isNeeded
    self.receive = receive
  }
}
