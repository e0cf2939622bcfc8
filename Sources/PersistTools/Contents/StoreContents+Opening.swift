package import Foundation
package import Persist

extension StoreContents {
  /// Opens a store for reading, without changing it or creating files beside it.
  ///
  /// A store whose tables don't quite match its model is read as far as possible; see ``gaps``.
  ///
  /// - Parameter registry: The versions to search for the store's model; nil to use the store's embedded model.
  package convenience init(readingStoreAt url: URL, registry: ModelRegistry?) throws {
    let location = StoreLocation(url)
    let engine = try location.engine
    let identified = try engine.identifyStore(at: location, registry: registry)
    let store = try engine.openStore(
      at: location, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: true)
    self.init(store, identified)
  }

  /// Visits the selected transactions of the store's history, oldest first; none if the store has no history.
  package func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    try store.history?.forEachTransaction(query, body)
  }

  /// A number that changes whenever others have written to the store; nil if it can't be determined at the moment.
  package func foreignChangeCount() throws -> Int64? { try store.foreignChangeCount() }

  /// Whether the store has a history.
  package var hasHistory: Bool { store.history != nil }
}
