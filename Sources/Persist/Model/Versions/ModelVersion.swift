public import Foundation

/// A version of a model in a registry.
public struct ModelVersion: Sendable {
  /// The version's name: its file name without extension, or the name it was added with.
  public let name: String
  /// The model as it was in this version.
  public let model: ManagedObjectModel
  /// The location that the version was read from.
  public let url: URL?
  /// Core Data's hash of each entity, if a `VersionInfo.plist` contains it.
  public let coreDataHashes: [String: Data]?

  /// Creates a version from a model, for example from one built in code.
  public init(name: String, model: ManagedObjectModel, url: URL? = nil, coreDataHashes: [String: Data]? = nil) {
    self.name = name
    self.model = model
    self.url = url
    self.coreDataHashes = coreDataHashes
  }

  /// Whether `text` is the version's name or one of its version identifiers.
  package func isCalled(_ text: String) -> Bool { name == text || model.versionIdentifiers.contains(text) }
}
