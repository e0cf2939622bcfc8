/// Contexts have no queue: whoever calls these owns the context, and the block runs at once.
extension ManagedObjectContext {
  /// Runs a block, for code that was written for a context with a queue. Returns what the block returns.
  ///
  /// The compiler makes sure that the caller may use the context. Another thread is reached with
  /// ``PersistentContainer/performBackgroundTask(_:)`` or a ``ContextActor``.
  @discardableResult
  public func perform<Result>(_ block: () throws -> Result) rethrows -> Result { try block() }

  /// As ``perform(_:)``.
  @discardableResult
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result { try block() }
}

/// A context is equal to itself only.
extension ManagedObjectContext: Hashable {
  public static func == (left: ManagedObjectContext, right: ManagedObjectContext) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
