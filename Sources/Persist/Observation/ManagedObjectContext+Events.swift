extension ManagedObjectContext {
  /// What changed in the context, each time that its pending changes are processed.
  ///
  /// Each use makes a sequence of its own, which begins now.
  public var objectsDidChange: ContextEvents<ObjectsDidChange> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .changes) { event in
        if case .objectsDidChange(let changes) = event { changes } else { nil }
      })
  }

  /// An element for each save that begins. To change objects before they are saved there is
  /// ``ManagedObject/willSave()``: whoever awaits a sequence comes to its turn when the save is done.
  public var willSave: ContextEvents<Void> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .beginnings) { event in
        if case .willSave = event { () } else { nil }
      })
  }

  /// What each save wrote, as the context's objects.
  public var didSave: ContextEvents<ObjectsDidSave> {
    ContextEvents(
      buffer: ContextEventBuffer(self, joining: .saves) { event in
        if case .didSave(let saved) = event { saved } else { nil }
      })
  }

  /// What each save wrote, as identifiers. The stream may be taken to another task or actor, whose context then learns
  /// of the saves of this one.
  ///
  /// Saves wait until they are asked for: the first hundred one by one, later ones together. Of more than 50,000
  /// objects nothing waits but ``SavedChanges/isIncomplete``. A stream that nobody holds any more costs nothing.
  public var savedChanges: AsyncStream<SavedChanges> {
    let buffer = SavedChangesBuffer()
    let source = SavedChangesSource(buffer)
    beginTracking().keep(
      ContextObservation(isNeeded: { source.buffer != nil }) { event in
        if case .didSave(let saved) = event { source.buffer?.put(saved.savedChanges) }
      })
    return AsyncStream { await buffer.next() }
  }
}
