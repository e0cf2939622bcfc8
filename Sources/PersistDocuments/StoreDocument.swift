public import Persist

/// Everything that an ``AtomicStore`` contains: objects as values, and the model that they belong to.
///
/// `Codable`, so that any encoder makes a document of it.
public struct StoreDocument: Sendable, Hashable {
  /// An object.
  public struct Object: Sendable, Hashable {
    /// The name of the entity.
    public var entity: String
    /// The key, unique among all objects of the entity's hierarchy and never used again.
    public var key: Int64
    /// The number of times that the object was saved.
    public var version: Int64
    /// The values of attributes that have one, by name.
    public var values: [String: StoredValue]
    /// The objects that to-one relationships lead to, by name.
    public var references: [String: Reference]
    /// The keys of the members of to-many relationships, by name; in order if the relationship is ordered.
    ///
    /// An unordered relationship whose inverse is to-one is missing: the members' references determine it.
    public var members: [String: [Int64]]

    /// Creates an object from its parts.
    public init(
      entity: String, key: Int64, version: Int64 = 1, values: [String: StoredValue] = [:],
      references: [String: Reference] = [:], members: [String: [Int64]] = [:]
    ) {
      self.entity = entity
      self.key = key
      self.version = version
      self.values = values
      self.references = references
      self.members = members
    }
  }

  /// The name of an object in the document.
  public struct Reference: Sendable, Hashable, Codable {
    /// The name of the object's entity.
    public var entity: String
    /// The object's key.
    public var key: Int64

    /// Names an object.
    public init(entity: String, key: Int64) {
      self.entity = entity
      self.key = key
    }
  }

  /// The UUID of the store, part of every object identifier.
  public var identifier: String
  /// The model of the objects.
  public var model: ModelDescription
  /// The application's own metadata.
  public var metadata: [String: PropertyList]
  /// The greatest keys that may have been used, by the name of the hierarchy's root entity.
  public var lastKeys: [String: Int64]
  /// The objects, by entity and key.
  public var objects: [Object]

  /// Creates a document from its parts.
  public init(
    identifier: String, model: ModelDescription, metadata: [String: PropertyList] = [:],
    lastKeys: [String: Int64] = [:], objects: [Object] = []
  ) {
    self.identifier = identifier
    self.model = model
    self.metadata = metadata
    self.lastKeys = lastKeys
    self.objects = objects
  }
}
