/// An entity as described by a model file or a builder: its own properties, with references by name.
///
/// A ``ManagedObjectModel`` checks a set of these and resolves each into an ``Entity``, which includes inherited
/// properties.
public struct EntityDescription: Sendable, Hashable {
  /// The entity's name, unique in the model. Requests name it, and a table is named after its root entity.
  public var name: String
  /// The class of the objects; nil for ``ManagedObject`` itself.
  public var className: String?
  /// The module in which to look up the class, as named in a model file.
  public var moduleName: String?
  /// Whether the entity has no objects of its own, only those of subentities. False by default.
  public var isAbstract: Bool
  /// The name of the parent entity.
  public var parent: String?
  /// The entity's name in an older version, if it was renamed since.
  public var renamingIdentifier: String?
  /// A string that changes this entity's fingerprint although nothing else changed.
  public var versionHashModifier: String?
  /// Annotations by key, with no effect on the fingerprint.
  public var userInfo: [String: String]
  /// The entity's own attributes, without inherited ones.
  public var attributes: [AttributeDescription]
  /// The entity's own relationships, without inherited ones.
  public var relationships: [RelationshipDescription]
  /// The entity's own fetched properties, without inherited ones.
  public var fetchedProperties: [FetchedPropertyDescription]
  /// Lists of properties whose combined values must be unique: attributes, elements of composite attributes such as
  /// `address.city`, and to-one relationships.
  public var uniquenessConstraints: [[String]]
  /// The conditions of those uniqueness constraints that concern only some objects, by the constraint's properties. All
  /// conditions of a constraint must hold. Models of Xcode have none.
  public var uniquenessConditions: [[String]: [UniquenessCondition]] = Dictionary()
  /// The entity's own indexes in the present form. Those of the old forms are ``compoundIndexes`` and indexed
  /// attributes.
  public var indexes: [FetchIndexDescription]
  /// Compound indexes in the old, unnamed form: lists of property names.
  public var compoundIndexes: [[String]]
  /// The entity's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates an entity from its own properties and indexes. The initializer with a closure is for models in code.
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

extension EntityDescription {
  /// The uniqueness constraints in words, each with its conditions: `email where deletedAt == nil`.
  package var uniquenessTexts: Set<String> {
    Set(uniquenessConstraints.map { names in
      let conditions = uniquenessConditions[names] ?? []
      let text = names.sorted().joined(separator: ", ")
      return conditions.isEmpty ? text : "\(text) where \(conditions.words)"
    })
  }
}
