/// The history of a store, for the layers above the engines.
package protocol StoreHistory: Sendable {
  /// Whether changes are recorded; false if the history was switched off and its past kept.
  var isTracking: Bool { get }

  /// Stops recording changes, for every program that uses the store, until one opens it with
  /// ``StoreOptions/tracksHistory``.
  ///
  /// - Parameter keepingPast: Whether the recorded transactions remain.
  func disable(keepingPast: Bool) throws

  /// Visits the selected transactions in the order of their numbers, all from one state of the store.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the history can't be read; the errors of `body`.
  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws
}
