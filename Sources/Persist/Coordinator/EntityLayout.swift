import Foundation

/// What contexts need to know of an entity, worked out once per coordinator and then read by slot, without look-ups.
final class EntityLayout: Sendable {
  let entity: Entity
  /// Index in ``ManagedObjectModel/entities``.
  let index: Int
  /// Index of the entity at the top of the hierarchy: rows of one hierarchy share their keys.
  let rootIndex: Int
  let rowSlotCount: Int
  let properties: [Property]
  /// How each property's slot holds its value; ``SlotForm/none`` for composites and whatever isn't an attribute.
  let forms: [SlotForm]
  /// By property slot, nil where the property isn't a relationship.
  let relationshipsBySlot: [RelationshipLayout?]
  let relationships: [RelationshipLayout]
  /// What a new object starts with, by property slot.
  let initialValues: ContiguousArray<StoredValue?>
  /// Slots of properties that live in memory only.
  let transientSlots: [Int]
  /// Relationships without inverse that lead to objects of this entity.
  let oneWayReferrers: [OneWayReferrer]
  /// The rules of the properties that have any.
  let checks: [PropertyCheck]

  /// A relationship that objects of `entityIndex` and below have, and that nothing leads back from.
  struct OneWayReferrer: Sendable {
    let entityIndex: Int
    let slot: Int
  }

  private init(_ entity: Entity, in model: ManagedObjectModel?, referrers: [OneWayReferrer]) {
    self.entity = entity
    index = entity.number - 1
    rootIndex = entity.root.number - 1
    rowSlotCount = entity.rowSlotCount
    properties = entity.properties
    forms = entity.properties.map { property in
      guard let attribute = property.attribute, !attribute.isTransient else { return .none }
      return SlotForm(attribute)
    }
    relationshipsBySlot = entity.properties.map { property in model.flatMap { RelationshipLayout(property, in: $0) } }
    relationships = relationshipsBySlot.compactMap { $0 }
    initialValues = ContiguousArray(entity.properties.map { $0.attribute?.defaultValue ?? .null })
    transientSlots = entity.properties.filter { $0.isTransient && $0.fetchedProperty == nil }.map(\.slot)
    oneWayReferrers = referrers
    checks = entity.properties.compactMap { PropertyCheck($0) }
  }

  /// A layout for an object outside of any context, which has no relationships.
  static func alone(_ entity: Entity) -> EntityLayout { EntityLayout(entity, in: nil, referrers: []) }

  /// The layouts of a model's entities, in their order.
  static func layouts(of model: ManagedObjectModel) -> [EntityLayout] {
    var referrers: [[OneWayReferrer]] = Array(repeating: [], count: model.entities.count)
    for entity in model.entities {
      for property in entity.properties where property.declaringEntity == entity.name {
        guard let relationship = property.relationship, relationship.inverse == nil else { continue }
        let referrer = OneWayReferrer(entityIndex: entity.number - 1, slot: property.slot)
        for target in model.hierarchy(of: model.destination(of: relationship)) {
          referrers[target.number - 1].append(referrer)
        }
      }
    }
    return model.entities.map { EntityLayout($0, in: model, referrers: referrers[$0.number - 1]) }
  }

  /// Whether the entity is the one at an index of the model, or stands below it.
  func isKind(ofEntityAt other: Int) -> Bool {
    var entity: Entity? = entity
    while let current = entity {
      if current.number - 1 == other { return true }
      entity = current.superentity
    }
    return false
  }
}

/// A relationship with what keeping both of its sides in step takes.
struct RelationshipLayout: Sendable {
  let name: String
  let slot: Int
  let isToMany: Bool
  let isOrdered: Bool
  let isTransient: Bool
  let deleteRule: DeleteRule
  /// Index of the destination in ``ManagedObjectModel/entities``.
  let destinationIndex: Int
  /// The row slot of the destination's entity number.
  let entityNumberSlot: Int?
  let inverse: Inverse?
  /// Whether a save tells this relationship's new and lost members as links: it is to-many, and of the two sides of a
  /// many-to-many relationship the one that tells.
  let tellsLinks: Bool
  /// Whether the relationship is its own inverse, as that between friends.
  let isOwnInverse: Bool

  /// The relationship that leads back.
  struct Inverse: Sendable {
    let name: String
    let slot: Int
    let isToMany: Bool
  }

  init?(_ property: Property, in model: ManagedObjectModel) {
    guard let relationship = property.relationship else { return nil }
    let destination = model.destination(of: relationship)
    let back = relationship.inverse.flatMap { destination.property(named: $0) }
    name = relationship.name
    slot = property.slot
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    isTransient = relationship.isTransient
    deleteRule = relationship.deleteRule
    destinationIndex = destination.number - 1
    entityNumberSlot = property.entityNumberSlot
    inverse = back.flatMap { back in
      back.relationship.map { Inverse(name: back.name, slot: back.slot, isToMany: $0.isToMany) }
    }
    isOwnInverse = back.map { $0.declaringEntity == property.declaringEntity && $0.name == property.name } ?? false
    if let back, let backward = back.relationship {
      tellsLinks =
        relationship.isToMany && backward.isToMany
        && (property.declaringEntity, property.name) <= (back.declaringEntity, back.name)
    } else {
      tellsLinks = relationship.isToMany
    }
  }
}
