extension PersistentContainer {
  /// Runs a closure with its own context on a thread that may block, and returns its result.
  ///
  /// Saving a hundred thousand objects or scanning a large store keeps a thread busy for a while, and Swift's tasks
  /// share a few threads that must not block. The context exists only for the closure: arguments and results are
  /// values, such as identifiers, and the compiler keeps objects from escaping. Nothing is saved unless the closure
  /// saves.
  ///
  /// Up to 64 closures run in parallel; others wait for one to finish. Servers should use ``read(_:)`` and
  /// ``write(_:)`` instead, whose concurrency fits the store.
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
  /// - Throws: The closure's error; `CancellationError` if the task was canceled before the closure started, or while a
  ///   save in it waited for another writer.
  @discardableResult
  public func performBackgroundTask<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await persistentStoreCoordinator.threads.background.run { try body(self.newContext()) }
  }

  /// Reads in a closure with its own context, on one of the container's eight reading threads.
  ///
  /// ```swift
  /// let names = try await container.read { context in
  ///   try context.fetch(FetchRequest("Item", sortedBy: "name")).map { $0["name"] as? String ?? "" }
  /// }
  /// ```
  ///
  /// Writers don't block readers of a file. The ninth closure waits until one of the eight returns. Changes that the
  /// closure makes are discarded with its context.
  ///
  /// - Throws: The closure's error; `CancellationError` if the task was canceled before the closure started.
  @discardableResult
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await persistentStoreCoordinator.threads.reading.run { try body(self.newContext()) }
  }

  /// Writes in a closure with its own context on the container's writing thread. Closures run one at a time, in call
  /// order.
  ///
  /// SQLite allows one writer at a time. Parallel closures would only wait for each other's locks and cause conflicts;
  /// here each one starts with the data that the previous one saved. Nothing is saved unless the closure saves;
  /// ``save(retrying:_:)`` does.
  ///
  /// - Throws: The closure's error; ``PersistenceError/Code/storeBusy`` if the closure waited in the queue longer than
  ///   ``StoreOptions/busyTimeout``; `CancellationError` if the task was canceled before the closure started, or while
  ///   a save in it waited for another process.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let coordinator = persistentStoreCoordinator
    let wait = WaitLimit(
      coordinator.busyTimeout,
      orThrow: PersistenceError(
        .storeBusy, at: .store(coordinator.persistentStores.first?.url),
        "Earlier background tasks wrote for longer than busyTimeout.",
        fix: "Try again, set a longer busyTimeout, or write less in each closure."))
    return try await coordinator.threads.writing.run(within: wait) {
      try body(self.newContext())
    }
  }
}
