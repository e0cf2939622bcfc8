import Foundation

/// Persist's record in an SQLite file.
extension ModelRecord {
  static let table = "PERSIST_METADATA"

  /// The keys of the record's table.
  enum Key {
    static let fingerprints = "fingerprints"
    static let model = "model"
    static let modelDigest = "modelDigest"
    static let hashes = "hashes"
  }

  /// The record in an open database; nil if there is none, or it was written for another model than the store's.
  init?(_ connection: SQLiteConnection, schema: StoreSchema, metadata: StoreMetadata) throws {
    guard schema.column("VALUE", of: Self.table) != nil, schema.column("KEY", of: Self.table) != nil else { return nil }
    try self.init(metadata: metadata, at: connection.url) { try Self.read($0, from: connection) }
  }

  /// - Parameter read: Reads the content of a key of the record's table.
  init?(metadata: StoreMetadata, at url: URL?, reading read: (String) throws -> Data?) throws {
    guard try read(Key.hashes) == Self.digest(of: metadata.versionHashes), let bytes = try read(Key.fingerprints),
      let entries = try? PropertyList(data: bytes, place: .store(url)).dictionaryValue
    else { return nil }
    let fingerprints = entries.compactMapValues { $0.dataValue.flatMap(Fingerprint.init(bytes:)) }
    guard !fingerprints.isEmpty, fingerprints.count == entries.count else { return nil }
    try self.init(fingerprints: fingerprints, modelDigest: read(Key.modelDigest))
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
    for (key, content) in try contents(fingerprints: fingerprints, modelText: modelText, metadata: metadata) {
      try connection.execute(.setModelRecord(key, .blob(content)))
    }
  }

  /// The contents of the record's table.
  static func contents(
    fingerprints: [String: Fingerprint], modelText: Data, metadata: StoreMetadata
  ) throws -> [(key: String, content: Data)] {
    let entries = PropertyList.dictionary(fingerprints.mapValues { .data($0.bytes) })
    return [
      (Key.fingerprints, try entries.binaryData()), (Key.model, modelText),
      (Key.modelDigest, Data(SHA256.digest(modelText))), (Key.hashes, digest(of: metadata.versionHashes)),
    ]
  }

  private static func read(_ key: String, from connection: SQLiteConnection) throws -> Data? {
    try connection.first(.modelRecord(key)) { $0.data(0) }
  }

  /// A digest of entity names and hashes.
  private static func digest(of hashes: [String: Data]) -> Data {
    var message: [UInt8] = []
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      message += Array(name.utf8) + [0, UInt8(truncatingIfNeeded: hash.count)] + Array(hash)
    }
    return Data(SHA256.digest(message))
  }
}
