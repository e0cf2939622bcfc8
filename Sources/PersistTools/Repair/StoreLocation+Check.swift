public import Persist

extension StoreLocation {
  /// Looks for damage in a store. Nothing is written, and memory use doesn't grow with the store.
  ///
  /// ```swift
  /// var problems: [StoreProblem] = []
  /// try StoreLocation(url).check { problems.append($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - registry: The candidate models for the store; nil uses the model in the store.
  ///   - report: Called with each problem. An error that it throws ends the check.
  /// - Throws: ``PersistenceError`` if the store can't be read or its model is unknown; the errors of `report`.
  public func check(registry: ModelRegistry? = nil, _ report: (StoreProblem) throws -> Void) throws {
    try engine.checkStore(at: self, registry: registry, report)
  }
}
