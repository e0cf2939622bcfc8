/// What a context tells those who observe it, at once and within its isolation.
enum ContextEvent {
  case objectsDidChange(ObjectsDidChange)
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
