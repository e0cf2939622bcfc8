extension PersistentContainer {
  /// Runs a closure with its own context on the container's writing thread, and saves its changes.
  ///
  /// ```swift
  /// try await container.save { localContext in
  ///   let tea = ManagedObject(entity: "Item", context: localContext)
  ///   tea["name"] = "Tea"
  /// }
  /// let tea = try container.viewContext.findFirst("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// If the program uses ``viewContext``, the changes are merged into it before this returns; otherwise nothing runs on
  /// the main actor.
  ///
  /// - Parameters:
  ///   - retries: The number of times that the closure is rerun, with a new context, after another process changed the
  ///     same rows or used the same unique values. The closure should then have no effects beyond its context.
  ///   - body: Changes objects in the given context.
  /// - Returns: The closure's result, such as identifiers.
  /// - Throws: The errors of the closure, of saving and of ``write(_:)``. After an error, only the closure's own saves
  ///   remain, which are merged too.
  @discardableResult
  public func save<Result: Sendable>(
    retrying retries: Int = 0, _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let (outcome, changes) = try await write { context in self.save(body, in: context, retrying: retries) }
    if usesViewContext, !changes.isEmpty {
      await MainActor.run { for change in changes { viewContext.mergeChanges(from: change) } }
    }
    return try outcome.get()
  }

  /// Runs a closure with its own context and saves its changes while the main actor waits.
  ///
  /// - Parameters:
  ///   - retries: As in ``save(retrying:_:)``.
  ///   - body: Changes objects in the given context.
  /// - Throws: The errors of the closure and of saving. The closure's own saves remain and are merged.
  @MainActor @discardableResult
  public func saveAndWait<Result>(
    retrying retries: Int = 0, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let (outcome, changes) = save(body, in: newContext(), retrying: retries)
    for change in changes { viewContext.mergeChanges(from: change) }
    return try outcome.get()
  }

  /// - Parameter context: The context of the first attempt; each later attempt has its own.
  /// - Returns: The closure's result or the error, and the changes written by the closure and the final save if the
  ///   program uses the view context. After an error, there may be changes too.
  private nonisolated func save<Result>(
    _ body: (ManagedObjectContext) throws -> Result, in context: ManagedObjectContext, retrying retries: Int
  ) -> (Swift.Result<Result, any Error>, [SavedChanges]) {
    var (context, changes, left) = (context, [SavedChanges](), retries)
    while true {
      // A view context that is first used later reads what was saved.
      context.didWrite = { saved in if self.usesViewContext { changes.append(saved()) } }
      do {
        let result = try body(context)
        try context.save()
        return (.success(result), changes)
      } catch let error as PersistenceError where left > 0 && error.isConflict {
        left -= 1
        context = newContext()
      } catch {
        return (.failure(error), changes)
      }
    }
  }
}

extension PersistenceError {
  /// Whether the same work may succeed if restarted with the store's current data.
  fileprivate var isConflict: Bool {
    @inline(never) get {
      code == .mergeConflict || code == .constraintConflict || errors.contains { $0.isConflict }
    }
  }
}
