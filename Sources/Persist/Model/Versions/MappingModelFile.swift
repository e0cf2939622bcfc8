public import Foundation

/// A mapping model that a registry found: the step it applies to, without its content.
public struct MappingModelFile: Sendable, Hashable {
  /// The file name without extension.
  public let name: String
  /// An `.xcmappingmodel` folder or a compiled `.cdm`.
  public let url: URL
  /// The name of the step's source version, as in the file; compiled ones don't contain it.
  public let sourceVersion: String?
  /// The name of the step's destination version, as in the file; compiled ones don't contain it.
  public let destinationVersion: String?
  /// The name of the versions' family, if the file contains it.
  public let familyName: String?
  /// Core Data's hash of each mapped entity, in compiled mapping models.
  public let sourceHashes: [String: Data]
  /// Core Data's hash of each destination entity, in compiled mapping models.
  public let destinationHashes: [String: Data]

  /// Creates the record of a mapping model; the registry's way of knowing a file that it hasn't read completely.
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

  // The synthesized operator compiles the comparison of dictionaries of data, 4 KB.
  public static func == (left: MappingModelFile, right: MappingModelFile) -> Bool {
    left.name == right.name && left.url == right.url && left.sourceVersion == right.sourceVersion
      && left.destinationVersion == right.destinationVersion && left.familyName == right.familyName
      && left.sourceHashes.hasSameBytes(as: right.sourceHashes)
      && left.destinationHashes.hasSameBytes(as: right.destinationHashes)
  }

  /// Whether the mapping model applies to the step between two versions: by their names, or by Core Data's hashes of
  /// the mapped entities if the versions have them.
  public func isFor(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    if let sourceVersion, let destinationVersion {
      return sourceVersion == source.name && destinationVersion == destination.name
    }
    return Self.covers(sourceHashes, source) && Self.covers(destinationHashes, destination)
  }

  private static func covers(_ hashes: [String: Data], _ version: ModelVersion) -> Bool {
    !hashes.isEmpty && version.coreDataHashes?.contains(hashes) == true
  }
}

extension MappingModelFile {
  /// A sentence about a mapping model that fits no two known versions.
  package static func unusedDescription(_ name: String, from source: String?, to destination: String?) -> String {
    let versions: String
    switch (source, destination) {
    case (let source?, let destination?): versions = " from '\(source)' to '\(destination)'"
    case (nil, nil): versions = ", which names no versions,"
    default: versions = ", which names one version only,"
    }
    return "The mapping model '\(name)'\(versions) fits no two known versions, so no migration uses it."
  }

  package var unusedDescription: String { Self.unusedDescription(name, from: sourceVersion, to: destinationVersion) }
}
