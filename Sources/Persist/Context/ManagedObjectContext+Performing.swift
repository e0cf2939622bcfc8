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
