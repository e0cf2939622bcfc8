extension StoreLocation {
  /// Looks for damage in a store. Nothing is written, and memory use doesn't grow with the store.
  ///
  /// - Parameters:
  ///   - registry: The candidate models for the store; nil uses the model in the store.
  ///   - report: Called with each problem. An error that it throws ends the check.
  package func check(registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void) throws {
    try engine.checkStore(at: self, registry: registry, report)
  }
}
