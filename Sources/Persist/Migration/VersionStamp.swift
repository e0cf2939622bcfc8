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
  func apply() throws {
    guard try SQLiteConnection.reading(url, options: options, isWanted(by:)) != nil else { return }
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    defer { connection.close() }
    try connection.transaction {
      try isWanted(by: connection)?.stamp(version.model, in: connection)
    }
  }

  /// The store's metadata where it says another version; nil where it says this one, or isn't stored like it.
  private func isWanted(by connection: SQLiteConnection) throws -> StoreMetadata? {
    let store = try StoreIdentification.identify(connection, registry: registry)
    guard store.model !== version.model, store.model.fingerprints == version.model.fingerprints,
      store.model.description != version.model.description
    else { return nil }
    return store.metadata
  }
}
