public import Foundation
public import Persist

// Unchecked: a description is changed only until a coordinator uses its model.
/// An entity of a model.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
  /// The name.
  open var name: String? { didSet { recordChange() } }
  /// The name of the objects' class.
  open var managedObjectClassName: String! { didSet { recordChange() } }
  /// Whether only subentities have objects.
  open var isAbstract = false { didSet { recordChange() } }
  /// The name in an older version.
  open var renamingIdentifier: String? { didSet { recordChange() } }
  /// A text that changes the entity's hash.
  open var versionHashModifier: String? { didSet { recordChange() } }
  /// Data of the application's own.
  open var userInfo: [AnyHashable: Any]? { didSet { recordChange() } }
  /// The attributes that are unique together, by name or description.
  open var uniquenessConstraints: [[Any]] = [] { didSet { recordChange() } }
  /// The attributes of indexes, under the older name.
  open var compoundIndexes: [[Any]] = [] { didSet { recordChange() } }
  /// The indexes.
  open var indexes: [NSFetchIndexDescription] = [] {
    didSet {
      for index in indexes { index.entity = self }
      recordChange()
    }
  }
  /// The entity's own properties and, once a coordinator uses the model or if it was read from a file, inherited ones.
  open var properties: [NSPropertyDescription] {
    get { (superentity?.properties.filter { inherited in !own.contains { $0.name == inherited.name } } ?? []) + own }
    set {
      own = newValue.filter { property in superentity?.properties.contains { $0 === property } != true }
      for property in own { property.join(self) }
      recordChange()
    }
  }
  /// The entities that inherit from this one.
  open var subentities: [NSEntityDescription] = [] {
    didSet {
      for entity in oldValue where entity.superentity === self { entity.superentity = nil }
      for entity in subentities { entity.superentity = self }
      recordChange()
    }
  }
  /// The entity that this one inherits from.
  public private(set) weak var superentity: NSEntityDescription?
  /// The model that contains the entity.
  public internal(set) weak var managedObjectModel: NSManagedObjectModel!
  private var own: [NSPropertyDescription] = []
  private var original: EntityDescription?
  /// The entity of Persist's that the description describes, once a coordinator uses the model.
  var entity: Entity?
  /// The origin of a read object that is created with its class's own initializer.
  var carriedOrigin: NSManagedObject.Origin?

  /// Creates a description.
  public override init() { super.init() }

  /// The attributes by name, inherited ones included.
  open var attributesByName: [String: NSAttributeDescription] { byName() }
  /// The relationships by name, inherited ones included.
  open var relationshipsByName: [String: NSRelationshipDescription] { byName() }
  /// The properties by name, inherited ones included.
  open var propertiesByName: [String: NSPropertyDescription] { byName() }
  /// The entities that inherit from this one, by name.
  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  private func byName<Property: NSPropertyDescription>() -> [String: Property] {
    Dictionary(
      properties.compactMap { $0 as? Property }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the relationships to an entity.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    relationshipsByName.values.filter { $0.destinationEntity === entity }.sorted { $0.name < $1.name }
  }

  /// Whether the entity is another one or inherits from it.
  open func isKindOf(entity other: NSEntityDescription) -> Bool {
    var entity: NSEntityDescription? = self
    while let current = entity {
      if current == other { return true }
      entity = current.superentity
    }
    return false
  }

  /// An expression for Spotlight's index. Without effect here.
  open var coreSpotlightDisplayNameExpression: NSExpression?

  /// The hash of the entity, by which stores recognize their model.
  open var versionHash: Data { entity?.fingerprint.bytes ?? Data() }

  func recordChange() { managedObjectModel?.recordChange() }

  var compositeAttributes: [NSCompositeAttributeDescription] {
    own.compactMap { $0 as? NSCompositeAttributeDescription }
  }

  /// Returns a copy that belongs to no model.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSEntityDescription()
    other.name = name
    other.managedObjectClassName = managedObjectClassName
    other.isAbstract = isAbstract
    other.renamingIdentifier = renamingIdentifier
    other.versionHashModifier = versionHashModifier
    other.userInfo = userInfo
    other.uniquenessConstraints = uniquenessConstraints
    other.compoundIndexes = compoundIndexes
    other.original = original
    other.properties = own.compactMap { $0.copy() as? NSPropertyDescription }
    other.indexes = indexes
    return other
  }

  open override func isEqual(_ other: Any?) -> Bool {
    guard let other = other as? NSEntityDescription else { return false }
    if self === other { return true }
    guard let entity, let otherEntity = other.entity else { return false }
    return entity === otherEntity || entity.fingerprint == otherEntity.fingerprint
  }

  open override var hash: Int { (name ?? "").hashValue }
  open override var description: String { "<NSEntityDescription \(name ?? "")>" }
}

extension NSEntityDescription {
  /// Returns the entity with a name in the model of a context's coordinator.
  public class func entity(forEntityName name: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
    context.model?.entitiesByName[name]
  }

  /// Inserts an object of an entity, of the class that the model names.
  @discardableResult
  public class func insertNewObject(
    forEntityName name: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: name, in: context) else {
      stop("The context's model has no entity '\(name)'.")
    }
    return context.managedObjectClass(of: entity).create(entity, in: context)
  }

  /// Describes an entity of a model that was read.
  convenience init(describing entity: EntityDescription) {
    self.init()
    original = entity
    name = entity.name
    managedObjectClassName = entity.className ?? "NSManagedObject"
    isAbstract = entity.isAbstract
    renamingIdentifier = entity.renamingIdentifier
    versionHashModifier = entity.versionHashModifier
    userInfo = entity.userInfo
    uniquenessConstraints = entity.uniquenessConstraints
    compoundIndexes = entity.compoundIndexes
    let attributes = entity.attributes.map(NSAttributeDescription.describing)
    let relationships = entity.relationships.map { relationship in
      let description = NSRelationshipDescription()
      description.adopt(relationship)
      return description
    }
    let fetched = entity.fetchedProperties.map { property in
      let description = NSFetchedPropertyDescription()
      description.adopt(property)
      return description
    }
    properties = attributes as [NSPropertyDescription] + relationships + fetched
    indexes = entity.indexes.map { NSFetchIndexDescription($0, of: self) }
  }

  /// Describes an entity of Persist's without a model of this module.
  convenience init(detached entity: Entity) {
    self.init(describing: entity.description)
    self.entity = entity
  }

  /// Hands an origin through a class's own initializer.
  public convenience init(carrying origin: NSManagedObject.Origin) {
    self.init()
    name = origin.entity.name
    entity = origin.entity
    carriedOrigin = origin
  }

  /// Returns the description that Persist builds a model from.
  func entityDescription() throws -> EntityDescription {
    guard let name else {
      throw PersistenceError(.invalidModel, "An entity of the model has no name.", fix: "Set its name.")
    }
    var entity = original ?? EntityDescription(name)
    entity.name = name
    entity.className = managedObjectClassName
    entity.isAbstract = isAbstract
    entity.parent = superentity?.name
    entity.renamingIdentifier = renamingIdentifier
    entity.versionHashModifier = versionHashModifier
    entity.userInfo = Dictionary(
      (userInfo ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { first, _ in first })
    entity.attributes = try own.compactMap { try ($0 as? NSAttributeDescription)?.attribute() }
    entity.relationships = try own.compactMap { try ($0 as? NSRelationshipDescription)?.relationship() }
    entity.fetchedProperties = try own.compactMap { try ($0 as? NSFetchedPropertyDescription)?.fetchedProperty() }
    entity.uniquenessConstraints = uniquenessConstraints.map(Self.names)
    entity.compoundIndexes = compoundIndexes.map(Self.names)
    entity.indexes = try indexes.map { try $0.index() }
    return entity
  }

  private static func names(_ properties: [Any]) -> [String] {
    properties.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
  }
}
