import Foundation

/// Recording of a store's model. The caller holds the transaction.
extension StoreMetadata {
  /// Records another model: writes the metadata that Core Data reads and Persist's record, and deletes the old model's
  /// archive.
  ///
  /// - Parameters:
  ///   - coreDataHashes: Core Data's hash of each entity of the model, if known; otherwise the entities' fingerprints
  ///     are used instead.
  mutating func record(
    _ model: ManagedObjectModel, coreDataHashes: [String: Data]?, in connection: SQLiteConnection
  ) throws {
    let fingerprints = model.fingerprints
    let known = coreDataHashes.flatMap { $0.keys.sorted() == fingerprints.keys.sorted() ? $0 : nil }
    setModel(
      versionHashes: known ?? fingerprints.mapValues(\.bytes), versionIdentifiers: model.versionIdentifiers)
    try write(to: connection)
    try record(model, in: connection)
    if try connection.first(.knows(table: "Z_MODELCACHE"), { _ in true }) == true {
      try connection.execute(.emptyModelCache)
    }
  }

  /// Records another model with the same storage: a version with an additional transient attribute, for example. The
  /// hashes and the archive that Core Data reads remain.
  func stamp(_ model: ManagedObjectModel, in connection: SQLiteConnection) throws {
    var metadata = self
    metadata.setModel(versionHashes: versionHashes, versionIdentifiers: model.versionIdentifiers)
    try metadata.write(to: connection)
    try metadata.record(model, in: connection)
  }

  /// Records the store's present model, so that it is identified immediately the next time; nothing that Core Data
  /// reads changes.
  @inline(never)
  func record(_ model: ManagedObjectModel, in connection: SQLiteConnection) throws {
    try ModelRecord.write(
      fingerprints: model.fingerprints, modelText: Data(model.description.json.utf8), metadata: self, to: connection)
  }
}
