import Foundation
import Persist

/// The effect on related objects when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
  /// They are left as they are.
  case noActionDeleteRule = 0
  /// They lose the relationship to the object.
  case nullifyDeleteRule = 1
  /// They are deleted, too.
  case cascadeDeleteRule = 2
  /// The object can't be deleted as long as there are any.
  case denyDeleteRule = 3
}

// Unchecked: as its superclass is.
/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  // Weak: entities own their relationships, which lead back to entities. The model owns all of them.
  /// The entity of the related objects.
  open weak var destinationEntity: NSEntityDescription? {
    didSet {
      if let destinationEntity { destinationName = destinationEntity.name }
      recordChange()
    }
  }
  /// The relationship in the other direction.
  open weak var inverseRelationship: NSRelationshipDescription? { didSet { recordChange() } }
  /// The smallest number of related objects; 0 for none.
  open var minCount = 0 { didSet { recordChange() } }
  /// The greatest number of related objects; 1 for a to-one relationship, 0 for no limit.
  open var maxCount = 0 { didSet { recordChange() } }
  /// The effect on related objects when an object is deleted.
  open var deleteRule = NSDeleteRule.nullifyDeleteRule { didSet { recordChange() } }
  /// Whether the related objects have an order.
  open var isOrdered = false { didSet { recordChange() } }
  private var original: RelationshipDescription?
  private var destinationName: String?

  /// Creates a description.
  public required init() { super.init() }

  /// Whether there can be several related objects.
  open var isToMany: Bool { maxCount != 1 }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    guard let other = other as? NSRelationshipDescription else { return }
    other.destinationEntity = destinationEntity
    other.destinationName = destinationName
    other.inverseRelationship = inverseRelationship
    other.minCount = minCount
    other.maxCount = maxCount
    other.deleteRule = deleteRule
    other.isOrdered = isOrdered
    other.original = original
  }

  func adopt(_ relationship: RelationshipDescription) {
    original = relationship
    name = relationship.name
    isOptional = relationship.isOptional
    isTransient = relationship.isTransient
    userInfo = relationship.userInfo
    renamingIdentifier = relationship.renamingIdentifier
    versionHashModifier = relationship.versionHashModifier
    isIndexedBySpotlight = relationship.isIndexedBySpotlight
    minCount = relationship.minimumCount
    maxCount = relationship.maximumCount
    isOrdered = relationship.isOrdered
    destinationName = relationship.destination
    deleteRule = NSDeleteRule(rawValue: UInt(relationship.deleteRule.rawValue)) ?? .nullifyDeleteRule
  }

  /// Resolves the names of the destination and of the inverse.
  func connect(in entities: [String: NSEntityDescription]) {
    guard destinationEntity == nil, let destination = destinationName.flatMap({ entities[$0] }) else { return }
    destinationEntity = destination
    inverseRelationship = original?.inverse.flatMap { destination.relationshipsByName[$0] }
  }

  func relationship() throws -> RelationshipDescription {
    guard let destination = destinationEntity?.name ?? destinationName else {
      throw PersistenceError(
        .invalidModel, at: .property(entity?.name ?? "", name), "The relationship has no destination.",
        fix: "Set its destinationEntity.")
    }
    var relationship = original ?? RelationshipDescription(name, to: destination)
    relationship.name = name
    relationship.destination = destination
    relationship.inverse = inverseRelationship?.name ?? (original == nil ? nil : relationship.inverse)
    relationship.isOptional = isOptional
    relationship.isTransient = isTransient
    relationship.isOrdered = isOrdered
    relationship.minimumCount = minCount
    relationship.maximumCount = maxCount
    relationship.deleteRule = DeleteRule(rawValue: Int(deleteRule.rawValue)) ?? .nullify
    relationship.renamingIdentifier = renamingIdentifier
    relationship.versionHashModifier = versionHashModifier
    relationship.userInfo = texts
    relationship.isIndexedBySpotlight = isIndexedBySpotlight
    return relationship
  }
}

// Unchecked: as its superclass is.
/// A property whose value is the result of a request.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// The request, with the variables `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { didSet { recordChange() } }
  private var original: FetchedPropertyDescription?

  /// Creates a description.
  public required init() { super.init() }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    guard let other = other as? NSFetchedPropertyDescription else { return }
    other.fetchRequest = fetchRequest
    other.original = original
  }

  func adopt(_ property: FetchedPropertyDescription) {
    original = property
    name = property.name
    isOptional = property.isOptional
    userInfo = property.userInfo
    renamingIdentifier = property.renamingIdentifier
    fetchRequest = NSFetchRequest(property.request)
  }

  func fetchedProperty() throws -> FetchedPropertyDescription {
    guard let request = fetchRequest else {
      throw PersistenceError(
        .invalidModel, at: .property(entity?.name ?? "", name), "The fetched property has no request.",
        fix: "Set its fetchRequest.")
    }
    let description = try request.requestDescription()
    var property = original ?? FetchedPropertyDescription(name, request: description)
    property.name = name
    property.request = description
    property.isOptional = isOptional
    property.renamingIdentifier = renamingIdentifier
    property.userInfo = texts
    return property
  }
}

// Unchecked: as its superclass is.
/// A computed column of a request for dictionaries.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// The expression of the column.
  open var expression: NSExpression?
  /// The type of the values.
  open var expressionResultType = NSAttributeType.undefinedAttributeType

  /// Creates a description.
  public required init() { super.init() }

  /// The type of the values under its newer name.
  open var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
    set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    guard let other = other as? NSExpressionDescription else { return }
    other.expression = expression
    other.expressionResultType = expressionResultType
  }
}
