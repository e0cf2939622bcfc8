extension PersistentContainer {
  /// Runs a closure with a context of its own on the container's writing thread, and saves what it changed.
  ///
  /// ```swift
  /// try await container.save { localContext in
  ///   let tea = ManagedObject(entity: "Item", context: localContext)
  ///   tea["name"] = "Tea"
  /// }
  /// let tea = try container.viewContext.findFirst("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// Where the program uses ``viewContext``, that has merged the changes before this returns; else nothing runs on the
  /// main actor.
  ///
  /// - Parameters:
  ///   - retries: how often the closure runs again, with a new context, after another process changed the same rows or
  ///     took the same unique values. Give it no effects beyond its context then.
  /// - Returns: what the closure returns, such as identifiers.
  /// - Throws: the errors of the closure, of saving and of ``write(_:)``. Only the closure's own saves remain then.
  @discardableResult
  public func save<Result: Sendable>(
    retrying retries: Int = 0, _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let (result, changes) = try await write { context in try self.save(body, in: context, retrying: retries) }
    if usesViewContext, !changes.isEmpty {
      await MainActor.run { for change in changes { viewContext.mergeChanges(from: change) } }
    }
    return result
  }

  /// Runs a closure with a context of its own and saves what it changed, while the main actor waits.
  ///
  /// - Parameter retries: as in ``save(retrying:_:)``.
  /// - Throws: what the closure and saving throw.
  @MainActor @discardableResult
  public func saveAndWait<Result>(
    retrying retries: Int = 0, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let (result, changes) = try save(body, in: newContext(), retrying: retries)
    for change in changes { viewContext.mergeChanges(from: change) }
    return result
  }

  /// - Parameter context: for the first attempt; each other one has a context of its own.
  /// - Returns: the closure's result, and the changes that it and the save after it wrote.
  private nonisolated func save<Result>(
    _ body: (ManagedObjectContext) throws -> Result, in context: ManagedObjectContext, retrying retries: Int
  ) throws -> (Result, [SavedChanges]) {
    var (context, changes, left) = (context, [SavedChanges](), retries)
    while true {
      let observation = context.observe { event in
        if case .didSave(let saved) = event { changes.append(saved.savedChanges) }
      }
      do {
        let result = try withExtendedLifetime(observation) {
          let result = try body(context)
          try context.save()
          return result
        }
        return (result, changes)
      } catch let error as PersistenceError where left > 0 && error.isConflict {
        left -= 1
        context = newContext()
      }
    }
  }
}

extension PersistenceError {
  /// Whether the same work may succeed when it begins anew with what the store has now.
  fileprivate var isConflict: Bool {
    code == .mergeConflict || code == .constraintConflict || errors.contains(where: \.isConflict)
  }
}
