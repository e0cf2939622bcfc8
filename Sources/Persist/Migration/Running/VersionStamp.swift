import Foundation

/// Records in a store that it has a version whose storage is identical to that of its previous version: for example,
/// one that adds a transient attribute.
///
/// Such versions don't differ in the rows, only in the store's metadata.
struct VersionStamp {
  let url: URL
  let version: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions

  /// Writes the version to the store if it has a different one; Core Data's hashes aren't changed.
  ///
  /// - Parameter store: the store as read before.
  func apply(to store: IdentifiedStore) throws {
    guard isWanted(by: store) else { return }
    let location = StoreLocation(url)
    let connection = try location.engine.connect(to: location, options: options)
    defer { connection.close() }
    try connection.transaction {
      let store = try connection.identify(among: registry, known: store.catalog)
      if isWanted(by: store) { try connection.stamp(store.metadata, model: version.model) }
    }
  }

  /// Whether the store has a different version with identical storage.
  private func isWanted(by store: IdentifiedStore) -> Bool {
    store.model !== version.model && store.model.fingerprints == version.model.fingerprints
      && store.model.description != version.model.description
  }
}
