package import Foundation

extension StoreContents {
  /// Opens a store for reading; no byte of it is changed and no file comes up beside it.
  ///
  /// A store whose tables aren't quite those of its model is shown as far as they go; see ``gaps``.
  ///
  /// - Parameter registry: the versions that the store's model is looked for among; nil for the store's own model.
  package convenience init(readingStoreAt url: URL, registry: ModelRegistry?) throws {
    let identified = try StoreIdentification.identify(storeAt: url, registry: registry)
    let store = try SQLiteStore.open(
      url, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: true)
    self.init(store, identified)
  }
}
