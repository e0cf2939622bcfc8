/// A whole model as a file or a builder describes it, unchecked: what ``ManagedObjectModel`` is made from.
public struct ModelDescription: Sendable, Hashable {
  public var entities: [EntityDescription]
  public var composites: [CompositeDescription]
  /// Names of configurations with the names of their entities.
  public var configurations: [String: [String]]
  /// Request templates by name.
  public var fetchRequestTemplates: [String: FetchRequestDescription]
  /// What the author calls this version; most models have one identifier or none.
  public var versionIdentifiers: [String]
  /// What a model file says of the model that no property here stands for, kept as it was.
  public var unknown: [String: String]

  public init(
    entities: [EntityDescription] = [], composites: [CompositeDescription] = [],
    configurations: [String: [String]] = [:], fetchRequestTemplates: [String: FetchRequestDescription] = [:],
    versionIdentifiers: [String] = [], unknown: [String: String] = [:]
  ) {
    self.entities = entities
    self.composites = composites
    self.configurations = configurations
    self.fetchRequestTemplates = fetchRequestTemplates
    self.versionIdentifiers = versionIdentifiers
    self.unknown = unknown
  }
}
