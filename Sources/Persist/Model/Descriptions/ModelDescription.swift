/// A complete model as described by a file or a builder, unchecked: the input of a ``ManagedObjectModel``.
public struct ModelDescription: Sendable, Hashable {
  /// The entities in any order; parents and destinations are referred to by name.
  public var entities: [EntityDescription]
  /// The composite types that attributes refer to by name.
  public var composites: [CompositeDescription]
  /// The names of the entities in each configuration.
  public var configurations: [String: [String]]
  /// Request templates by name.
  public var fetchRequestTemplates: [String: FetchRequestDescription]
  /// The author's names for this version; most models have one identifier or none.
  public var versionIdentifiers: [String]
  /// The model's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates a description from its parts, unchecked; without arguments, an empty one.
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
