import Dispatch

extension PersistentContainer {
  /// Runs a closure with a context of its own, on a thread that may block, and gives what it returns.
  ///
  /// Saving a hundred thousand objects or walking through a large store keeps its thread for a while; Swift's tasks
  /// share a few threads and mustn't wait on them. The context is made for the closure and ends with it: what goes in
  /// and what comes out are values, such as identifiers, and the compiler sees to it that no object does. Nothing is
  /// saved unless the closure saves. Closures that are performed at once run beside each other.
  ///
  /// ```swift
  /// let id = try await container.performBackgroundTask { context in
  ///   let tea = ManagedObject(entity: "Item", context: context)
  ///   tea["name"] = "Tea"
  ///   try context.save()
  ///   return tea.objectID
  /// }
  /// ```
  ///
  /// - Throws: what the closure throws, and `CancellationError` where the task was cancelled before the closure began.
  @discardableResult
  public func performBackgroundTask<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    return try await withCheckedThrowingContinuation { continuation in
      Self.backgroundQueue.async {
        continuation.resume(with: Swift.Result { try body(self.newContext()) })
      }
    }
  }

  /// Has a thread for each closure, also while others are blocked.
  private static let backgroundQueue = DispatchQueue(label: "Persist background tasks", attributes: .concurrent)
}
