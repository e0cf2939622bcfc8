import CoreData
import Foundation

extension NSEntityDescription {
  public convenience init<T: NSManagedObject>(for aClass: T.Type, withName name: String) {
    self.init()
    self.managedObjectClassName = NSStringFromClass(aClass)
    self.name = name
    self.isAbstract = false
    self.subentities = []
  }

  public var topMostAncestor: NSEntityDescription {
    var current = self
    while let parent = current.superentity { current = parent }
    return current
  }

  public func isDescendantEntity(of entity: NSEntityDescription, recursive: Bool = false) -> Bool {
    if recursive { return isKindOf(entity: entity) && self !== entity }
    return superentity == entity
  }

  public func add(_ property: NSPropertyDescription) { properties.append(property) }

  public func createIndex(on properties: NSPropertyDescription..., named name: String? = nil) {
    let elements = properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }
    let index = NSFetchIndexDescription(name: name ?? "by" + properties.map { $0.name }.joined(), elements: elements)
    index.partialIndexPredicate = nil
    indexes.append(index)
  }
}

extension NSAttributeDescription {
  public static func int16(name: String, defaultValue: Int16? = nil, isOptional: Bool = false) -> NSAttributeDescription
  {
    let attributes = NSAttributeDescription(name: name, type: .integer16AttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue.map { NSNumber(value: $0) }
    return attributes
  }

  public static func int64(name: String, defaultValue: Int64? = nil, isOptional: Bool = false) -> NSAttributeDescription
  {
    let attributes = NSAttributeDescription(name: name, type: .integer64AttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue
    return attributes
  }

  public static func string(name: String, defaultValue: String? = nil, isOptional: Bool = false)
    -> NSAttributeDescription
  {
    let attributes = NSAttributeDescription(name: name, type: .stringAttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue
    return attributes
  }

  public static func bool(name: String, defaultValue: Bool? = nil, isOptional: Bool = false) -> NSAttributeDescription {
    let attributes = NSAttributeDescription(name: name, type: .booleanAttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue
    return attributes
  }

  public static func decimal(name: String, defaultValue: Decimal? = nil, isOptional: Bool = false)
    -> NSAttributeDescription
  {
    let attributes = NSAttributeDescription(name: name, type: .decimalAttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue.map { NSDecimalNumber(decimal: $0) }
    return attributes
  }

  public static func date(name: String, defaultValue: Date? = nil, isOptional: Bool = false) -> NSAttributeDescription {
    let attributes = NSAttributeDescription(name: name, type: .dateAttributeType)
    attributes.isOptional = isOptional
    attributes.defaultValue = defaultValue
    return attributes
  }

  public static func uuid(name: String, isOptional: Bool = false) -> NSAttributeDescription {
    let attributes = NSAttributeDescription(name: name, type: .UUIDAttributeType)
    attributes.isOptional = isOptional
    return attributes
  }

  public static func transformable<T: NSObject>(
    for aClass: T.Type, name: String,
    valueTransformerName: String = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue,
    isOptional: Bool = true
  ) -> NSAttributeDescription {
    let attributes = NSAttributeDescription(name: name, type: .transformableAttributeType)
    attributes.isOptional = isOptional
    attributes.attributeValueClassName = "\(aClass)"
    attributes.valueTransformerName = valueTransformerName
    return attributes
  }

  public convenience init(name: String, type: NSAttributeType) {
    self.init()
    self.name = name
    self.attributeType = type
  }
}

extension NSDerivedAttributeDescription {
  public convenience init(name: String, type: NSAttributeType, derivationExpression: NSExpression) {
    self.init()
    self.name = name
    self.attributeType = type
    self.derivationExpression = derivationExpression
    self.isOptional = true
  }
}

extension NSRelationshipDescription {
  public static func toMany(
    name: String, destination: NSEntityDescription, ordered: Bool = false,
    deleteRule: NSDeleteRule = .nullifyDeleteRule,
    minimum: Int = 0, maximum: Int = 0
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOrdered = ordered
    relationship.minCount = minimum
    relationship.maxCount = maximum
    relationship.deleteRule = deleteRule
    return relationship
  }

  public static func toOne(
    name: String, destination: NSEntityDescription, optional: Bool = true, deleteRule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = optional
    relationship.minCount = optional ? 0 : 1
    relationship.maxCount = 1
    relationship.deleteRule = deleteRule
    return relationship
  }
}
