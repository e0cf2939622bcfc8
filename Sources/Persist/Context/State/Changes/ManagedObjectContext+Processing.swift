extension ManagedObjectContext {
  /// Does the same as ``processPendingChanges()`` without merging; does nothing if the context isn't observed.
  func endEvent() {
    processTrackedChanges()
    changeRecorder?.endEvent()
  }

  /// Does the same as ``endEvent()`` without ending the undo group; does nothing if the context isn't observed.
  ///
  /// - Parameter isUndoable: Whether the program made the changes, instead of a refresh or a merge.
  @inline(never)
  func processTrackedChanges(isUndoable: Bool = true) {
    if tracker == nil {
      guard ContextNotifications.areWanted else { return }
      beginTracking()
    }
    if let tracker, tracker.hasPendingChanges { process(tracker, isUndoable: isUndoable) }
  }

  @inline(never)
  private func process(_ tracker: ChangeTracker, isUndoable: Bool) {
    let entries = tracker.takeEntries()
    if isUndoable { changeRecorder?.record(entries, in: self) }
    let changes = ObjectsDidChange(entries, announced: tracker.announced)
    tracker.announced = ObjectsDidChange()
    guard !changes.isEmpty else { return }
    tracker.deliver(.objectsDidChange(changes), of: entries, from: self)
  }

  /// Reports events of objects other than changes to their properties, as an event of its own.
  ///
  /// - Parameter add: Adds the objects to report; not called if the context isn't observed.
  func announce(_ add: (inout ObjectsDidChange) -> Void) {
    guard let tracker else { return }
    add(&tracker.announced)
    processTrackedChanges(isUndoable: false)
  }

  /// Observes all events of the context, until the result is released.
  ///
  /// Unprocessed changes are part of the first event. To start from the results of a fetch, observe first and then
  /// fetch.
  ///
  /// - Parameter wake: Called by the first change after pending changes were processed, and when the context is
  ///   deallocated.
  package func observe(wake: (() -> Void)? = nil, _ receive: @escaping (ContextEvent) -> Void) -> ContextObservation {
    let observation = ContextObservation(wake: wake, receive: receive)
    beginTracking().add(observation)
    return observation
  }

  /// Notifies observers of an event other than changes.
  func send(_ event: @autoclosure () -> ContextEvent) {
    guard let tracker else { return }
    tracker.deliver(event(), from: self)
  }

  /// Stops tracking changes if the context is no longer observed. Nothing is unsaved then, so that tracking can restart
  /// at any time.
  func endTrackingIfUnobserved() {
    guard let tracker, changeRecorder == nil, !ContextNotifications.areWanted, !graph.hasChanges,
      !tracker.hasPendingChanges, tracker.isIdle
    else { return }
    self.tracker = nil
  }

  /// Starts tracking changes. Unsaved changes count as changes of the current event.
  @discardableResult
  package func beginTracking() -> ChangeTracker {
    if let tracker { return tracker }
    let tracker = ChangeTracker()
    for table in tables { for object in table.map.objects { object.leaveEvent() } }
    for object in graph.inserted.objects { tracker.enter(object, before: nil) }
    for object in graph.updated.objects + graph.deleted.objects {
      tracker.enter(object, before: ObjectState(committed: object))
    }
    self.tracker = tracker
    return tracker
  }
}
