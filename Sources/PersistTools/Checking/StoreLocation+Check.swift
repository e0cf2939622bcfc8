public import Persist

extension StoreLocation {
  /// Looks for damage in a store. Nothing is written, and memory use doesn't grow with the store.
  ///
  /// ```swift
  /// var problems: [StoreProblem] = []
  /// try StoreLocation(url).check { problems.append($0) }
  /// ```
  ///
  /// Values that the types of declared properties can't read are found if the registry has the store's model with the
  /// classes that declare it:
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(Item.self, Category.self)
  /// try StoreLocation(url).check(registry: ModelRegistry(model)) { problems.append($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - registry: The candidate models for the store; nil uses the model in the store.
  ///   - report: Called with each problem. An error that it throws ends the check.
  /// - Throws: ``PersistenceError`` if the store can't be read or its model is unknown; the errors of `report`.
  public func check(registry: ModelRegistry? = nil, _ report: (StoreProblem) throws -> Void) throws {
    var matchesModel = true
    guard let engine = try engine as? any CheckingEngine else {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "Stores of this kind can't be checked.",
        fix: "Check a store in a file or on a server.")
    }
    try engine.checkStore(at: self, registry: registry) { problem in
      if [.schemaMismatch, .damagedDatabase].contains(problem.kind) { matchesModel = false }
      try report(problem)
    }
    guard matchesModel else { return }
    for problem in try inspect({ try ParkedCheck.problems($0) }) {
      try report(problem)
    }
    guard registry != nil else { return }
    try reportUnreadableValues(try engine.identifyStore(at: self, registry: registry).model, report)
  }

  private func reportUnreadableValues(
    _ model: ManagedObjectModel, _ report: (StoreProblem) throws -> Void
  ) throws {
    try UnreadableScan(model)?.forEachFinding(in: self, options: StoreOptions()) { finding in
      for problem in finding.problems {
        try report(
          StoreProblem(
            kind: .unreadableValue, entity: finding.entity, pk: finding.row, property: problem.keyPath,
            detail: "'\(problem.keyPath)' \(problem.reason)."))
      }
    }
  }
}
