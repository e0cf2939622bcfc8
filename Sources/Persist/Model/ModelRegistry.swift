public import Foundation

/// One version of a model, as a registry knows it.
public struct ModelVersion: Sendable {
  /// The version's name: its file name without extension, or what it was added under.
  public let name: String
  public let model: ManagedObjectModel
  /// Where it was read from.
  public let url: URL?
  /// Core Data's own hash of each entity, where a `VersionInfo.plist` gave them.
  public let coreDataHashes: [String: Data]?

  public init(name: String, model: ManagedObjectModel, url: URL? = nil, coreDataHashes: [String: Data]? = nil) {
    self.name = name
    self.model = model
    self.url = url
    self.coreDataHashes = coreDataHashes
  }
}

/// Every known version of a model, and every mapping model.
public final class ModelRegistry: Sendable {
  public let versions: [ModelVersion]
  public let currentVersion: ModelVersion?

  public init(versions: [ModelVersion], current: String? = nil) {
    self.versions = versions
    currentVersion = versions.first { $0.name == current } ?? versions.last
  }
}
