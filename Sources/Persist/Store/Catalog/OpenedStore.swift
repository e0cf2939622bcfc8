package import Foundation

/// The identity of a store as it was opened: its identifier, and where the rows of its model are.
///
/// Engines compare it with the present catalog if the store may have been changed by others.
package struct OpenedStore: Sendable {
  let url: URL?
  let identifier: String
  package let map: TableMap
  private let metadata: Lazy<StoreMetadata>
  /// The mark of the store's life.
  package var life: String { metadata.value.life }

  package init(at url: URL?, _ metadata: StoreMetadata, map: TableMap) {
    self.init(at: url, identifier: metadata.identifier, map: map) { metadata }
  }

  package init(at url: URL?, identifier: String, map: TableMap, metadata: @escaping @Sendable () -> StoreMetadata) {
    (self.url, self.identifier, self.map) = (url, identifier, map)
    self.metadata = Lazy(metadata)
  }

  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store now has another model or layout,
  ///   ``PersistenceError/Code/storeExchanged`` if it is another store.
  package func check(_ catalog: StoreCatalog) throws {
    guard catalog.metadata.identifier == identifier else {
      throw replaced("It has the content of the store \(catalog.metadata.identifier) now.")
    }
    guard catalog.metadata.life == life else { throw replaced("A copy was restored in its place.") }
    let isSameModel = catalog.record.map { $0.fingerprints == map.model.fingerprints } ?? false
      || catalog.metadata.versionHashes.hasSameBytes(as: metadata.value.versionHashes)
    guard !isSameModel || !catalog.tableMap(of: map.model).hasSamePlaces(as: map) else { return }
    let names = catalog.metadata.versionIdentifiers.filter { !$0.isEmpty }
    let version = names.isEmpty ? "" : " Its version is \(names.map { "'\($0)'" }.joined(separator: ", ")) now."
    throw PersistenceError(
      .incompatibleModel, at: .store(url),
      "Another program migrated the store while it was open here.\(version)",
      fix: "Open it again with its current model. Unsaved changes are still in the context.")
  }

  /// The error for a store that isn't the one opened.
  package func replaced(_ how: String, engineMessage: String? = nil) -> PersistenceError {
    PersistenceError(
      .storeExchanged, at: .store(url),
      "The store was deleted or replaced while it was open here. \(how)",
      engineMessage: engineMessage,
      fix: "Remove it from the coordinator, and open the store that is now in its place."
        + " Unsaved changes are still in the context.")
  }
}
