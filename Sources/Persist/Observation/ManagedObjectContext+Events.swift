extension ManagedObjectContext {
  /// The changes in the context, each time its pending changes are processed.
  ///
  /// Each access creates a new sequence, which starts now.
  public var objectsDidChange: ContextEvents<ObjectsDidChange> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .changes) { event in
        if case .objectsDidChange(let changes) = event { changes } else { nil }
      })
  }

  /// An element for each save that starts. To change objects before they are saved, use ``ManagedObject/willSave()``: a
  /// task that awaits this sequence resumes after the save.
  public var willSave: ContextEvents<Void> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .beginnings) { event in
        if case .willSave = event { () } else { nil }
      })
  }

  /// The changes written by each save, as the context's objects.
  public var didSave: ContextEvents<ObjectsDidSave> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .saves) { event in
        if case .didSave(let saved) = event { saved } else { nil }
      })
  }

  /// The changes written by each save, as identifiers. The stream may be passed to another task or actor, whose context
  /// can then merge this context's saves.
  ///
  /// Saves wait until they are consumed: the first hundred one by one, later ones coalesced. If more than 50,000
  /// objects would wait, only ``SavedChanges/isIncomplete`` is kept. A stream without references costs nothing.
  public var savedChanges: AsyncStream<SavedChanges> {
    let buffer = SavedChangesBuffer()
    let source = SavedChangesSource(buffer)
    beginTracking().keep(
      ContextObservation(isNeeded: { source.buffer != nil }) { event in
        if case .didSave(let saved) = event { source.buffer?.enqueue(saved.savedChanges) }
      })
    return AsyncStream { await buffer.next() }
  }
}
