public import Foundation

/// A mapping model that a registry found: which step it is for, without its content.
public struct MappingModelFile: Sendable, Hashable {
  /// The file's name without extension.
  public let name: String
  /// An `.xcmappingmodel` folder or a compiled `.cdm`.
  public let url: URL
  /// The name of the version that the step begins with, as the file names it; compiled ones don't.
  public let sourceVersion: String?
  public let destinationVersion: String?
  /// The name of the family that the versions belong to, where the file names it.
  public let familyName: String?
  /// Core Data's hash of each entity that is mapped, in compiled mapping models.
  public let sourceHashes: [String: Data]
  public let destinationHashes: [String: Data]

  public init(
    name: String, url: URL, sourceVersion: String? = nil, destinationVersion: String? = nil,
    familyName: String? = nil, sourceHashes: [String: Data] = [:], destinationHashes: [String: Data] = [:]
  ) {
    self.name = name
    self.url = url
    self.sourceVersion = sourceVersion
    self.destinationVersion = destinationVersion
    self.familyName = familyName
    self.sourceHashes = sourceHashes
    self.destinationHashes = destinationHashes
  }

  /// Whether the mapping model is for the step between two versions: by their names, or where they have Core Data's
  /// hashes by those of the entities that it maps.
  public func isFor(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    if let sourceVersion, let destinationVersion {
      return sourceVersion == source.name && destinationVersion == destination.name
    }
    return Self.covers(sourceHashes, source) && Self.covers(destinationHashes, destination)
  }

  private static func covers(_ hashes: [String: Data], _ version: ModelVersion) -> Bool {
    guard !hashes.isEmpty, let own = version.coreDataHashes else { return false }
    return hashes.allSatisfy { own[$0.key] == $0.value }
  }
}
