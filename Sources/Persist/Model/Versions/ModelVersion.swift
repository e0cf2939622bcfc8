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

  /// Whether this is the version that a user calls `text`: by its name, or by a version identifier.
  func isCalled(_ text: String) -> Bool { name == text || model.versionIdentifiers.contains(text) }
}
