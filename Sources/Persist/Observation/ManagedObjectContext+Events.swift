extension ManagedObjectContext {
  /// What changed in the context, each time that its pending changes are processed.
  ///
  /// Each use makes a sequence of its own, which begins now.
  public var objectsDidChange: ContextEvents<ObjectsDidChange> {
    ContextEvents(
      buffer: ContextEventBuffer(self) { event in
        if case .objectsDidChange(let changes) = event { changes } else { nil }
      })
  }

  /// An element for each save that begins. To change objects before they are saved there is
  /// ``ManagedObject/willSave()``: whoever awaits a sequence comes to its turn when the save is done.
  public var willSave: ContextEvents<Void> {
    ContextEvents(
      buffer: ContextEventBuffer(self) { event in
        if case .willSave = event { () } else { nil }
      })
  }

  /// What each save wrote, as the context's objects.
  public var didSave: ContextEvents<ObjectsDidSave> {
    ContextEvents(
      buffer: ContextEventBuffer(self) { event in
        if case .didSave(let saved) = event { saved } else { nil }
      })
  }

  /// What each save wrote, as identifiers. The stream may be taken to another task or actor, whose context then learns
  /// of the saves of this one.
  public var savedChanges: AsyncStream<SavedChanges> {
    let (stream, continuation) = AsyncStream.makeStream(of: SavedChanges.self)
    let source = SavedChangesSource(continuation)
    let observation = ContextObservation { event in
      if case .didSave(let saved) = event { source.send(saved.savedChanges) }
    }
    source.observation = observation
    beginTracking().keep(observation)
    return stream
  }
}

/// Feeds one stream of saves. The context holds it, and ends the stream when it goes itself.
private final class SavedChangesSource {
  private let continuation: AsyncStream<SavedChanges>.Continuation
  weak var observation: ContextObservation?

  init(_ continuation: AsyncStream<SavedChanges>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  func send(_ changes: SavedChanges) {
    if case .terminated = continuation.yield(changes) { observation?.isEnded = true }
  }
}
