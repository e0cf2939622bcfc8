/// An entity as a model file or a builder describes it: its own properties, and names for everything it refers to.
///
/// A ``ManagedObjectModel`` checks a set of these and resolves each into an ``Entity``, which knows what it inherits.
public struct EntityDescription: Sendable, Hashable {
  public var name: String
  /// The class of the objects; nil for ``ManagedObject`` itself.
  public var className: String?
  /// The module that the class is looked for in, as a model file names it.
  public var moduleName: String?
  public var isAbstract: Bool
  /// The name of the parent entity.
  public var parent: String?
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var userInfo: [String: String]
  /// Own attributes, inherited ones not included.
  public var attributes: [AttributeDescription]
  public var relationships: [RelationshipDescription]
  public var fetchedProperties: [FetchedPropertyDescription]
  /// Each constraint lists the properties whose values together may occur once.
  public var uniquenessConstraints: [[String]]
  public var indexes: [FetchIndexDescription]
  /// Compound indexes in the old form, without names: lists of property names.
  public var compoundIndexes: [[String]]
  /// What a model file says of the entity that no property here stands for, kept as it was.
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
