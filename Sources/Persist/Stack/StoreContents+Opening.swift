package import Foundation

extension StoreContents {
  /// Opens a store for reading, without changing it or creating files beside it.
  ///
  /// A store whose tables don't quite match its model is read as far as possible; see ``gaps``.
  ///
  /// - Parameter registry: The versions to search for the store's model; nil to use the store's embedded model.
  package convenience init(readingStoreAt url: URL, registry: ModelRegistry?) throws {
    let identified = try StoreIdentification.identify(storeAt: url, registry: registry)
    let store = try SQLiteStore.open(
      url, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: true)
    self.init(store, identified)
  }
}
