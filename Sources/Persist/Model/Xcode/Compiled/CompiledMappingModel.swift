import Foundation

/// Compiled mapping models (`.cdm`): keyed archives of `NSMappingModel`.
enum CompiledMappingModel {
  /// The versions between which a mapping model maps.
  struct Header: Sendable, Equatable {
    /// Core Data's hash of each source entity.
    var sourceHashes: [String: Data] = Dictionary()
    /// Core Data's hash of each destination entity.
    var destinationHashes: [String: Data] = Dictionary()
  }

  /// Reads the hashes that identify the versions to which a mapping model applies.
  ///
  /// A mapping that only adds has no source; one that only removes has no destination.
  static func header(at url: URL) throws -> Header {
    let data = try BoundedFile.data(at: url, limit: PropertyList.Limits.bytes)
    return try header(fromArchive: data, place: .file(url))
  }

  /// - Parameter place: the source of the bytes, for errors.
  static func header(fromArchive data: Data, place: PersistenceError.Place = .unknown) throws -> Header {
    let root = try KeyedArchive(data: data, place: place).root()
    guard root.isKind(of: "NSMappingModel") else {
      throw PersistenceError(
        .malformedFile, at: root.place(),
        "The archive contains an object of the class \(root.className ?? "unknown"); a mapping model was expected.")
    }
    var header = Header()
    for mapping in try root.elements("NSEntityMappings") {
      try readHash(of: mapping, "NSSourceEntityName", "NSSourceEntityVersionHash", into: &header.sourceHashes)
      try readHash(
        of: mapping, "NSDestinationEntityName", "NSDestinationEntityVersionHash", into: &header.destinationHashes)
    }
    return header
  }

  private static func readHash(
    of mapping: ArchivedObject, _ nameKey: String, _ hashKey: String, into hashes: inout [String: Data]
  ) throws {
    guard let name = try mapping.text(nameKey), let hash = try mapping.member(hashKey) else { return }
    guard case .data(let bytes)? = try hash.storedValue else {
      throw mapping.expected("The data of a hash", for: hashKey)
    }
    guard hashes[name] == nil || hashes[name] == bytes else {
      throw mapping.expected("The hash that another mapping gives for '\(name)'", for: hashKey)
    }
    hashes[name] = bytes
  }
}
