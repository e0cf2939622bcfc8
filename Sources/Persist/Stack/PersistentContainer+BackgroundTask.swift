extension PersistentContainer {
  /// Runs a closure with a context of its own, on a thread that may block, and returns its result.
  ///
  /// Saving a hundred thousand objects or walking through a large store keeps a thread busy for a while; Swift's tasks
  /// share a few threads and must not wait on them. The context is made for the closure and ends with it: what goes in
  /// and what comes out are values, such as identifiers, and the compiler sees to it that no object does. Nothing is
  /// saved unless the closure saves.
  ///
  /// Up to 64 closures run beside each other, others wait for one of them to end. A server rather uses ``read(_:)`` and
  /// ``write(_:)``, whose lanes fit the store.
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
  /// - Throws: what the closure throws; `CancellationError` where the task was cancelled before the closure began, or
  ///   while a save in it waited for another writer.
  @discardableResult
  public func performBackgroundTask<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await persistentStoreCoordinator.threads.background.run { try body(self.newContext()) }
  }

  /// Reads in a closure with a context of its own, on one of eight threads of the container's.
  ///
  /// ```swift
  /// let names = try await container.read { context in
  ///   try context.fetch(FetchRequest("Item", sortedBy: "name")).map { $0["name"] as? String ?? "" }
  /// }
  /// ```
  ///
  /// Writers hold nobody up who reads from a file. The ninth closure waits until one of the eight has returned. Changes
  /// that the closure makes are discarded with its context.
  ///
  /// - Throws: what the closure throws; `CancellationError` where the task was cancelled before the closure began.
  @discardableResult
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    try await persistentStoreCoordinator.threads.reading.run { try body(self.newContext()) }
  }

  /// Writes in a closure with a context of its own, on the container's writing thread: one closure after the other, in
  /// the order of the calls.
  ///
  /// SQLite allows one writer at a time. Closures that write beside each other only wait for each other's locks and run
  /// into each other's conflicts; here each begins with the data that the previous one saved. Nothing is saved unless
  /// the closure saves; ``save(retrying:_:)`` does so.
  ///
  /// - Throws: what the closure throws; ``PersistenceError/Code/storeBusy`` where it would have waited for its turn
  ///   longer than ``StoreOptions/busyTimeout``; `CancellationError` where the task was cancelled before the closure
  ///   began, or while a save in it waited for another process.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let busy = PersistenceError(
      .storeBusy, at: .store(persistentStoreCoordinator.persistentStores.first?.url),
      "The closures that were to write before this one have taken longer than busyTimeout allows.",
      fix: "Try again, wait longer with the option busyTimeout, or write less in each closure.")
    let wait = WaitLimit(persistentStoreCoordinator.busyTimeout, orThrow: busy)
    return try await persistentStoreCoordinator.threads.writing.run(within: wait) {
      try body(self.newContext())
    }
  }
}
