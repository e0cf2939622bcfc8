package import Foundation

/// The record as a table of keys and contents, in which every engine keeps it.
extension ModelRecord {
  /// The keys of the record's table.
  enum Key {
    static let fingerprints = "fingerprints"
    static let model = "model"
    static let modelDigest = "modelDigest"
    static let hashes = "hashes"
  }

  /// - Parameter read: Reads the content of a key of the record's table.
  package init?(metadata: StoreMetadata, at url: URL?, reading read: (String) throws -> Data?) throws {
    guard try read(Key.hashes) == Self.digest(of: metadata.versionHashes), let bytes = try read(Key.fingerprints),
      let entries = try? PropertyList(data: bytes, place: .store(url)).dictionaryValue
    else { return nil }
    let fingerprints = entries.compactMapValues { $0.dataValue.flatMap(Fingerprint.init(bytes:)) }
    guard !fingerprints.isEmpty, fingerprints.count == entries.count else { return nil }
    try self.init(fingerprints: fingerprints, modelDigest: read(Key.modelDigest))
  }

  /// The contents of the record's table.
  package static func contents(
    fingerprints: [String: Fingerprint], modelText: Data, metadata: StoreMetadata
  ) throws -> [(key: String, content: Data)] {
    let entries = PropertyList.dictionary(fingerprints.mapValues { .data($0.bytes) })
    return [
      (Key.fingerprints, try entries.binaryData()), (Key.model, modelText),
      (Key.modelDigest, Data(SHA256.digest(modelText))), (Key.hashes, digest(of: metadata.versionHashes)),
    ]
  }

  /// A digest of entity names and hashes.
  private static func digest(of hashes: [String: Data]) -> Data {
    var message: [UInt8] = []
    for (name, hash) in hashes.sorted(on: \.key) {
      message += Array(name.utf8) + [0, UInt8(truncatingIfNeeded: hash.count)] + Array(hash)
    }
    return Data(SHA256.digest(message))
  }
}
