import Foundation

/// Persist's record in an SQLite file.
extension ModelRecord {
  package static let table = "PERSIST_METADATA"

  /// The record in an open database; nil if there is none, or it was written for another model than the store's.
  init?(_ connection: SQLiteConnection, schema: StoreSchema, metadata: StoreMetadata) throws {
    guard schema.hasColumn("VALUE", of: Self.table), schema.hasColumn("KEY", of: Self.table) else { return nil }
    let keys = [Key.hashes, Key.fingerprints, Key.modelDigest]
    var contents: [String: Data] = Dictionary()
    try connection.query(.modelRecords(keys)) { row in
      for (index, key) in keys.enumerated() where !row.isNull(Int32(index)) { contents[key] = row.data(Int32(index)) }
    }
    try self.init(metadata: metadata, at: connection.url) { contents[$0] }
  }

  /// Whether the store still contains a record of the same text.
  func isCurrent(_ connection: SQLiteConnection) throws -> Bool {
    try Self.read(Key.modelDigest, from: connection) == modelDigest
  }

  /// The text of the model in Persist's JSON form; only meaningful while the record is valid.
  static func modelText(_ connection: SQLiteConnection) throws -> Data? { try read(Key.model, from: connection) }

  /// Records the store's new model; the caller holds the transaction.
  ///
  /// - Parameters:
  ///   - metadata: The metadata at the end of the same transaction.
  ///   - modelText: The model in Persist's JSON form.
  static func write(
    fingerprints: [String: Fingerprint], modelText: Data, metadata: StoreMetadata, to connection: SQLiteConnection
  ) throws {
    try connection.execute(.createModelRecord)
    let contents = try contents(fingerprints: fingerprints, modelText: modelText, metadata: metadata)
    try connection.execute(.setModelRecord(contents.map { ($0.key, .blob($0.content)) }))
  }

  /// The content of a key of the record's table.
  static func read(_ key: String, from connection: SQLiteConnection) throws -> Data? {
    try connection.first(.modelRecord(key)) { $0.data(0) }
  }
}
