/// The history of a store, for the layers above the engines.
package protocol StoreHistory: Sendable {
  /// Visits the selected transactions in the order of their numbers, all from one state of the store.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the history can't be read; the errors of `body`.
  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws
}
