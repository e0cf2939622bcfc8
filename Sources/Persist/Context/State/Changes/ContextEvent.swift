/// An event of a context, delivered to its observers immediately and in its isolation.
package enum ContextEvent {
  case objectsDidChange(ObjectsDidChange)
  /// New objects received the identifiers of their future rows.
  case didObtainPermanentIDs(Set<ManagedObject>)
  /// Saves by others are about to be merged. The context reports changed and deleted objects only if they are
  /// registered: observers interested in others create faults for them, and hold these until they are reported.
  case willMerge(SavedChanges)
  /// Others have written to a store, and the changes are known only for registered objects.
  case didMergeUnknownChanges
  /// An ancestor context has written objects of these entities, so that fetches by their values may have other results.
  case parentDidSave([EntityLayout])
  case willSave
  case didSave(ObjectsDidSave)
}

/// An observer of a context, active for as long as this object is held.
package final class ContextObservation {
  let receive: (ContextEvent) -> Void
  /// Called by the first change after pending changes were processed, and when the context is deallocated.
  let wake: (() -> Void)?
  /// Whether the receiver still exists, for an observation that the context itself holds.
  let isNeeded: () -> Bool

  package init(
    wake: (() -> Void)? = nil, isNeeded: @escaping () -> Bool = { true }, receive: @escaping (ContextEvent) -> Void
  ) {
    self.wake = wake
    self.isNeeded = isNeeded
    self.receive = receive
  }
}
