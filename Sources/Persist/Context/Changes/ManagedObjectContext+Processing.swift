extension ManagedObjectContext {
  /// Ends the current event: those who observe the context hear what changed since the last, and undo groups it.
  ///
  /// There is no run loop to do this. A context processes its pending changes when this is called, before a save and a
  /// fetch, before it is refreshed, rolled back or reset, when an undo group ends, and when an element of
  /// ``objectsDidChange`` is asked for. Whoever waits for such an element is woken by the first change and gets its
  /// turn after the stretch of code that made it: then all changes of the stretch are one event.
  ///
  /// ```swift
  /// item.name = "Tea"
  /// context.processPendingChanges()      // observers hear of the new name now
  /// ```
  public func processPendingChanges() {
    mergeArrivedChanges()
    beginTracking()
    endEvent()
  }

  /// As ``processPendingChanges()``, for changes alone; nothing where nobody observes the context.
  func endEvent() {
    processTrackedChanges()
    undoKeeper?.endEvent()
  }

  /// As ``processPendingChanges()``, within a group of what is to be undone; nothing where nobody observes the context.
  ///
  /// - Parameter isUndoable: whether the changes are the program's, and not what a refresh or a merge brought.
  func processTrackedChanges(isUndoable: Bool = true) {
    if tracker == nil {
      guard ContextNotifications.areWanted else { return }
      beginTracking()
    }
    guard let tracker, tracker.hasPendingChanges else { return }
    let entries = tracker.takeEntries()
    if isUndoable { undoKeeper?.record(entries, in: self) }
    let changes = ObjectsDidChange(entries, noted: tracker.noted)
    tracker.noted = ObjectsDidChange()
    guard !changes.isEmpty else { return }
    tracker.deliver(.objectsDidChange(changes), of: entries, from: self)
  }

  /// Tells what happened to objects otherwise than by setting their properties, as an event of its own.
  ///
  /// - Parameter note: what to tell; isn't called where nobody observes the context.
  func announce(_ note: (inout ObjectsDidChange) -> Void) {
    guard let tracker else { return }
    note(&tracker.noted)
    processTrackedChanges(isUndoable: false)
  }

  /// Hears of everything that the context tells, from now on and until the result is let go.
  ///
  /// Changes that weren't processed yet are part of the first event. Who wants to start from what a fetch finds
  /// observes first and fetches then.
  ///
  /// - Parameter wake: called by the first change after pending changes were processed, and when the context goes.
  func observe(wake: (() -> Void)? = nil, _ receive: @escaping (ContextEvent) -> Void) -> ContextObservation {
    let observation = ContextObservation(wake: wake, receive: receive)
    beginTracking().add(observation)
    return observation
  }

  /// Tells observers of something else than changes.
  func tell(_ event: @autoclosure () -> ContextEvent) {
    guard let tracker else { return }
    tracker.deliver(event(), from: self)
  }

  /// Stops keeping account of changes once nobody observes the context any more. Nothing is unsaved then, so that
  /// keeping account can begin again at any time.
  func endTrackingIfUnobserved() {
    guard let tracker, undoKeeper == nil, !ContextNotifications.areWanted, !hasChanges, !tracker.hasPendingChanges,
      tracker.isIdle
    else { return }
    self.tracker = nil
  }

  /// Keeps account of changes from now on. What was changed and not saved yet counts as changed in the current event.
  @discardableResult
  func beginTracking() -> ChangeTracker {
    if let tracker { return tracker }
    let tracker = ChangeTracker()
    for table in tables {
      for object in table.map.objects { object.eventIndex = ChangeTracker.notEntered }
    }
    for object in inserted.objects { tracker.enter(object, before: nil) }
    for object in updated.objects + deleted.objects { tracker.enter(object, before: ObjectState(committed: object)) }
    self.tracker = tracker
    return tracker
  }
}

extension ManagedObject {
  /// Notes the object's state before its first change in an event.
  final func enterEvent() {
    guard loading != .awakening, let context = table?.context else { return }
    if let tracker = context.tracker {
      tracker.enter(self, before: ObjectState(self))
    } else {
      eventIndex = ChangeTracker.notTracked
    }
  }

  /// As ``enterEvent()``, for an object that enters its context.
  final func enterEventAsNew(in context: ManagedObjectContext) {
    if let tracker = context.tracker {
      tracker.enter(self, before: nil)
    } else {
      eventIndex = ChangeTracker.notTracked
    }
  }
}
