/// An entity as described by a model file or a builder: its own properties, with references by name.
///
/// A ``ManagedObjectModel`` checks a set of these and resolves each into an ``Entity``, which includes inherited
/// properties.
public struct EntityDescription: Sendable, Hashable {
  public var name: String
  /// The class of the objects; nil for ``ManagedObject`` itself.
  public var className: String?
  /// The module in which to look up the class, as named in a model file.
  public var moduleName: String?
  public var isAbstract: Bool
  /// The name of the parent entity.
  public var parent: String?
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var userInfo: [String: String]
  /// The entity's own attributes, without inherited ones.
  public var attributes: [AttributeDescription]
  public var relationships: [RelationshipDescription]
  public var fetchedProperties: [FetchedPropertyDescription]
  /// Lists of properties whose combined values must be unique.
  public var uniquenessConstraints: [[String]]
  public var indexes: [FetchIndexDescription]
  /// Compound indexes in the old, unnamed form: lists of property names.
  public var compoundIndexes: [[String]]
  /// The entity's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  public init(
    _ name: String, className: String? = nil, moduleName: String? = nil, isAbstract: Bool = false,
    parent: String? = nil, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:], attributes: [AttributeDescription] = [],
    relationships: [RelationshipDescription] = [], fetchedProperties: [FetchedPropertyDescription] = [],
    uniquenessConstraints: [[String]] = [], indexes: [FetchIndexDescription] = [],
    compoundIndexes: [[String]] = [], unknown: [String: String] = [:]
  ) {
    self.name = name
    self.className = className
    self.moduleName = moduleName
    self.isAbstract = isAbstract
    self.parent = parent
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.attributes = attributes
    self.relationships = relationships
    self.fetchedProperties = fetchedProperties
    self.uniquenessConstraints = uniquenessConstraints
    self.indexes = indexes
    self.compoundIndexes = compoundIndexes
    self.unknown = unknown
  }
}
