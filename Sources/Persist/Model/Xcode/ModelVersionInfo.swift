import Foundation

/// The contents of the `VersionInfo.plist` file in a compiled model folder (`.momd`): the versions, and Core Data's
/// hash of each entity in each of them.
struct ModelVersionInfo: Sendable, Equatable {
  /// The name of the current version, whose model is the `.mom` file with that name.
  let currentVersion: String?
  /// The hashes by version and entity. Core Data's algorithm isn't documented; equal hashes mean equal entities.
  let hashes: [String: [String: Data]]

  /// The names of all versions, sorted.
  var versions: [String] { hashes.keys.sorted() }

  /// Reads the file in a `.momd` folder.
  ///
  /// - Throws: ``PersistenceError`` if there is no such file, or if it isn't in the expected format.
  init(inFolder folder: URL) throws {
    let file = folder.appendingPathComponent("VersionInfo.plist")
    let data = try BoundedFile.data(at: file, limit: PropertyList.Limits.bytes)
    try self.init(PropertyList(data: data, place: .file(file)), place: .file(file))
  }

  /// - Parameter place: the source of the list, for errors.
  init(_ list: PropertyList, place: PersistenceError.Place = .unknown) throws {
    func expected(_ what: String, at key: String) -> PersistenceError {
      var place = place
      place.key = key
      return PersistenceError(.malformedFile, at: place, "\(what) was expected here.")
    }
    let versionsKey = "NSManagedObjectModel_VersionHashes"
    guard let versions = list[versionsKey]?.dictionaryValue else {
      throw expected("A dictionary of versions", at: versionsKey)
    }
    hashes = try versions.reduce(into: Dictionary()) { hashes, version in
      guard let entities = version.value.dictionaryValue else {
        throw expected("A dictionary of entities", at: "\(versionsKey).\(version.key)")
      }
      hashes[version.key] = try entities.reduce(into: Dictionary()) { result, entity in
        guard let hash = entity.value.dataValue, !hash.isEmpty else {
          throw expected("The data of a hash", at: "\(versionsKey).\(version.key).\(entity.key)")
        }
        result[entity.key] = hash
      }
    }
    let currentKey = "NSManagedObjectModel_CurrentVersionName"
    if let current = list[currentKey] {
      guard let name = current.stringValue else { throw expected("The name of a version", at: currentKey) }
      currentVersion = name
    } else {
      currentVersion = nil
    }
  }
}
