import Foundation

/// Writing down which model a store has. The caller holds the transaction.
extension StoreMetadata {
  /// Gives the store another model: the metadata that Core Data reads, Persist's note, and nothing of the old model's
  /// archive.
  ///
  /// - Parameters:
  ///   - coreDataHashes: Core Data's hash of each entity of the model, where they are known; else the entities'
  ///     fingerprints stand in for them.
  mutating func record(
    _ model: ManagedObjectModel, coreDataHashes: [String: Data]?, in connection: SQLiteConnection
  ) throws {
    let fingerprints = model.fingerprints
    let known = coreDataHashes.flatMap { $0.keys.sorted() == fingerprints.keys.sorted() ? $0 : nil }
    setModel(
      versionHashes: known ?? fingerprints.mapValues(\.bytes), versionIdentifiers: model.versionIdentifiers)
    try write(to: connection)
    try note(model, in: connection)
    if try connection.first(.knows(table: "Z_MODELCACHE"), { _ in true }) == true {
      try connection.execute(.emptyModelCache)
    }
  }

  /// Says that the store has another model which is stored just like its own: a version with one more transient
  /// attribute, for instance. The hashes and the archive that Core Data reads stay.
  func stamp(_ model: ManagedObjectModel, in connection: SQLiteConnection) throws {
    var metadata = self
    metadata.setModel(versionHashes: versionHashes, versionIdentifiers: model.versionIdentifiers)
    try metadata.write(to: connection)
    try metadata.note(model, in: connection)
  }

  /// Notes the model that the store has already, so that it is known at once next time; nothing that Core Data
  /// reads changes.
  func note(_ model: ManagedObjectModel, in connection: SQLiteConnection) throws {
    try ModelRecord.write(
      fingerprints: model.fingerprints, modelText: Data(model.description.json.utf8), metadata: self, to: connection)
  }
}
