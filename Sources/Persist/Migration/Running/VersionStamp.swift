import Foundation

/// Records that a store has a version which is stored just like the one that it was written with: one that adds a
/// transient attribute, for instance.
///
/// Nothing in the rows tells such versions apart, only what the store says of itself.
struct VersionStamp {
  let url: URL
  let version: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions

  /// Writes the version into the store where it says another one; Core Data's hashes stay as they are.
  ///
  /// - Parameter store: as it was a moment ago.
  func apply(to store: IdentifiedStore) throws {
    guard isWanted(by: store) else { return }
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    defer { connection.close() }
    try connection.transaction {
      let store = try StoreIdentification.identify(connection, registry: registry, store.catalog)
      if isWanted(by: store) { try store.metadata.stamp(version.model, in: connection) }
    }
  }

  /// Whether the store says another version, which is stored like this one.
  private func isWanted(by store: IdentifiedStore) -> Bool {
    store.model !== version.model && store.model.fingerprints == version.model.fingerprints
      && store.model.description != version.model.description
  }
}
