extension ManagedObjectContext {
  /// The state of the stores to which the context is pinned; nil if it reads their current state.
  ///
  /// It is ``QueryGenerationToken/current`` from the time of pinning until the context reads from a store. It is also
  /// nil if none of the stores can hold a state, and in a child context, which reads through its parent.
  public var queryGenerationToken: QueryGenerationToken? { queryGeneration?.token }

  /// Pins the context to one state of its stores: everything that it reads from then on is from this state, whatever
  /// others save in the meantime.
  ///
  /// Fetches, counts, aggregates, faults, relationships, batched results and large values all show the same state. A
  /// fault needs no separate transaction. Objects that are already registered keep the values that they show, as
  /// always: pin a context before using it, or call ``refreshAllObjects()`` afterward.
  ///
  /// ```swift
  /// try context.setQueryGeneration(from: .current)
  /// let invoice = try context.fetch(FetchRequest("Invoice", limit: 1)).first
  /// let total = try context.count(for: FetchRequest("Line"))     // of the same state as the invoice
  /// ```
  ///
  /// The context remains pinned, but moves on to the newest state, when it saves changes, merges changes, or refreshes
  /// all objects, and when it is reset. A save reads the newest state from its beginning: changes by others since the
  /// pinned state are conflicts for the ``mergePolicy``. Batch requests and ``execute(_:)-(HistoryChangeRequest)`` use
  /// the current state.
  ///
  /// Stores on servers, and stores in files with a write-ahead log, which is the default, can hold a state. Stores in
  /// memory, with a rollback journal or read without locks show their current state to every context, and so does a
  /// store that was added after the context's first read. If another program replaces a large value that is in a file
  /// beside the store, reading it fails with ``PersistenceError/Code/queryGenerationExpired``.
  ///
  /// - Parameter token: ``QueryGenerationToken/current`` for the state at the time of the next read; the
  ///   ``queryGenerationToken`` of another context of the same coordinator for its state; nil to unpin the context.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a child context, and for a token of another coordinator.
  public func setQueryGeneration(from token: QueryGenerationToken?) throws {
    guard parent == nil else {
      throw PersistenceError(
        .invalidRequest, "A child context can't be pinned, because it reads through its parent.",
        fix: "Pin the parent, or create a context over the coordinator.")
    }
    if let generation = token?.generation, generation.coordinator !== persistentStoreCoordinator {
      throw PersistenceError(
        .invalidRequest, "The query generation belongs to another coordinator.",
        fix: "Use the token of a context of the same coordinator.")
    }
    queryGeneration = token.map { $0.generation ?? QueryGeneration(of: persistentStoreCoordinator) }
  }

  /// Moves a pinned context to the newest state.
  func advanceQueryGeneration() {
    guard queryGeneration != nil else { return }
    graph.outdateRowsAhead()
    queryGeneration = QueryGeneration(of: persistentStoreCoordinator)
  }

  /// The state to which a pinned context has moved on.
  var queryGenerationAfterSave: QueryGenerationToken? {
    do { try queryGeneration?.acquire() } catch { deferError(error) }
    return queryGenerationToken
  }

  /// Reads the newest state of the stores while `body` of a save runs. If it fails, the context shows its own state
  /// again.
  func readingNewest<T>(_ body: () throws -> T) rethrows -> T {
    guard readView != nil else { return try body() }
    runningSave?.readsNewest = true
    defer { runningSave?.readsNewest = false }
    do {
      return try body()
    } catch {
      if queryGeneration != nil, let reads = runningSave?.newestReads { discard(reads) }
      throw error
    }
  }
}
