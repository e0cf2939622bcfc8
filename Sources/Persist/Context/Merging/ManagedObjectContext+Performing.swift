extension ManagedObjectContext {
  /// Ends the current event: the context's observers are notified of the changes since the last event, and undo groups
  /// them.
  ///
  /// There is no run loop that does this. A context processes its pending changes when this is called, before a save or
  /// a fetch, before it is refreshed, rolled back or reset, when an undo group ends, and when an element of
  /// ``objectsDidChange`` is requested. A task that awaits such an element is woken by the first change, and resumes
  /// after the code that made it has run: all changes of that code are then one event.
  ///
  /// ```swift
  /// item.name = "Tea"
  /// context.processPendingChanges()      // notifies observers of the new name now
  /// ```
  public func processPendingChanges() {
    mergeArrivedChanges()
    beginTracking()
    endEvent()
  }
}

/// Contexts have no queue: the caller owns the context, and the block runs immediately.
extension ManagedObjectContext {
  /// Runs a block and returns its result, for code written for contexts with a queue.
  ///
  /// A context with ``automaticallyMergesChangesFromParent`` merges what others have saved first. The block is an event
  /// as any other code of the caller; observers hear of its changes when the context processes them.
  ///
  /// The compiler ensures that the caller may use the context. To run on another thread, use
  /// ``PersistentContainer/performBackgroundTask(_:)`` or a ``ContextActor``.
  @discardableResult
  public func perform<Result>(_ block: () throws -> Result) rethrows -> Result {
    mergeArrivedChanges()
    return try block()
  }

  /// Does the same as ``perform(_:)``.
  @discardableResult
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result { try perform(block) }
}

/// Contexts are compared by identity.
extension ManagedObjectContext: Hashable {
  public static func == (left: ManagedObjectContext, right: ManagedObjectContext) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
