public import Foundation

/// A version of a model in a registry.
public struct ModelVersion: Sendable {
  // One reference: what a migration consists of contains versions, and would copy these fields with everything else.
  private let content: Content

  private final class Content: Sendable {
    let name: String
    let model: ManagedObjectModel
    let url: URL?
    let coreDataHashes: [String: Data]?

    init(name: String, model: ManagedObjectModel, url: URL?, coreDataHashes: [String: Data]?) {
      self.name = name
      self.model = model
      self.url = url
      self.coreDataHashes = coreDataHashes
    }
  }

  /// The version's name: its file name without extension, or the name it was added with.
  public var name: String { content.name }
  /// The model as it was in this version.
  public var model: ManagedObjectModel { content.model }
  /// The location that the version was read from.
  public var url: URL? { content.url }
  /// Core Data's hash of each entity, if a `VersionInfo.plist` contains it.
  public var coreDataHashes: [String: Data]? { content.coreDataHashes }

  /// Creates a version from a model, for example from one built in code.
  public init(name: String, model: ManagedObjectModel, url: URL? = nil, coreDataHashes: [String: Data]? = nil) {
    content = Content(name: name, model: model, url: url, coreDataHashes: coreDataHashes)
  }

  /// A version's name in quotation marks; without them, words in the place of a missing name, such as "the store's own
  /// model".
  package static func quoted(_ name: String) -> String { name.hasPrefix("the ") ? name : "'\(name)'" }

  /// Whether `text` is the version's name or one of its version identifiers.
  package func isCalled(_ text: String) -> Bool { name == text || model.versionIdentifiers.contains(text) }
}
