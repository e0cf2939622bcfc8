/// The outcome of an import.
package struct ImportOutcome: Sendable {
  /// The number of inserted rows.
  package var count = 0
  /// Relationships of imported rows that are one-sided or that lead to a missing row without an inverse: imported as
  /// they are. At most ``ImportOutcome/warningLimit`` are listed.
  package var warnings: [StoreProblem] = []
  /// The number of such relationships.
  package var warningCount = 0

  static let warningLimit = 20
}
