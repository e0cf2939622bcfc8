extension PersistentContainer {
  /// Runs a closure with a context of its own, on a thread that may block, saves what it changed, and has
  /// ``viewContext`` take it in before it returns.
  ///
  /// ```swift
  /// try await container.save { localContext in
  ///   let tea = ManagedObject(entity: "Item", context: localContext)
  ///   tea["name"] = "Tea"
  /// }
  /// let tea = try container.viewContext.findFirst("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// - Returns: what the closure returns, such as identifiers.
  /// - Throws: what the closure and saving throw. Nothing is saved then, but what the closure saved itself.
  @discardableResult
  public func save<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let (result, changes) = try await performBackgroundTask { try Self.save(body, in: $0) }
    await MainActor.run { for change in changes { viewContext.mergeChanges(from: change) } }
    return result
  }

  /// As ``save(_:)``, at once: the main actor waits.
  @MainActor @discardableResult
  public func saveAndWait<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let (result, changes) = try Self.save(body, in: newContext())
    for change in changes { viewContext.mergeChanges(from: change) }
    return result
  }

  /// - Returns: what the closure returns, and what it and the save after it wrote.
  private static func save<Result>(
    _ body: (ManagedObjectContext) throws -> Result, in context: ManagedObjectContext
  ) throws -> (Result, [SavedChanges]) {
    var saves: [SavedChanges] = []
    let observation = context.observe { event in
      if case .didSave(let saved) = event { saves.append(saved.savedChanges) }
    }
    return try withExtendedLifetime(observation) {
      let result = try body(context)
      try context.save()
      return (result, saves)
    }
  }
}
