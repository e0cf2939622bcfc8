/// The two models of a store that is being migrated online: it serves both, or is being prepared for the second.
package struct ServedModels: Sendable {
  /// The names of the two versions.
  package let first: String
  package let second: String
  /// Whether programs with the second model can use the store. Until then, they have written nothing, and everything
  /// that is parked is where it was before.
  package let isServingBoth: Bool

  package init(first: String, second: String, isServingBoth: Bool) {
    (self.first, self.second, self.isServingBoth) = (first, second, isServingBoth)
  }

  /// The error for work that needs a store with one model.
  ///
  /// - Parameter consequence: A sentence about what the work would do.
  package func refusal(_ consequence: String, at place: PersistenceError.Place) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: place,
      "The store is being migrated online from '\(first)' to '\(second)'. \(consequence)",
      fix: "Finish the migration with 'persist contract', or abandon it with 'persist abort', and try again.")
  }
}
