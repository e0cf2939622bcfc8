import Foundation

/// What contexts need to know of an entity, worked out once per coordinator and then read by slot, without look-ups.
@usableFromInline
final class EntityLayout: Sendable {
  let entity: Entity
  /// Index in ``ManagedObjectModel/entities``.
  let index: Int
  /// Index of the entity at the top of the hierarchy: rows of one hierarchy share their keys.
  let rootIndex: Int
  @usableFromInline let rowSlotCount: Int
  let properties: [Property]
  /// What stands in each property's slot.
  let kinds: [SlotKind]
  /// How each property's slot holds its value; ``SlotForm/none`` for composites and whatever isn't an attribute.
  let forms: [SlotForm]
  /// The types of stored attributes whose values need nothing but the type to be converted: neither transformer nor
  /// elements.
  let plainTypes: [AttributeType?]
  /// The slots that a row has values for.
  let storedSlots: [StoredSlot]
  /// By property slot, nil where the property isn't a relationship.
  let relationshipsBySlot: [RelationshipLayout?]
  let relationships: [RelationshipLayout]
  /// Stored to-one relationships.
  let toOnes: [RelationshipLayout]
  /// By property slot, for stored to-one relationships: ``rootIndex`` of the destination; -1 for all else.
  let destinationRoots: [Int]
  /// What a new object starts with, by property slot.
  let initialValues: ContiguousArray<StoredValue?>
  /// Slots of attributes and to-one relationships that live in memory only.
  let transientSlots: [Int]
  /// Relationships without inverse that lead to objects of this entity.
  let oneWayReferrers: [OneWayReferrer]
  /// The rules of the properties that have any.
  let checks: [PropertyCheck]
  /// Checks of the values that the columns of attributes can hold.
  let columnChecks: [ColumnCheck]
  /// Where the properties that the entity's classes declare stand.
  let slotTables = SlotTables()

  /// What a property's slot is to an object. Read in place of ``Property``, whose copies cost many reference counts.
  enum SlotKind: UInt8, Sendable {
    case attribute, composite, toOne, toMany
    /// In memory only.
    case transient, transientToMany
    case fetched

    init(_ property: Property) {
      self =
        switch property.kind {
        case .attribute(let attribute):
          attribute.isTransient ? .transient : (attribute.type == .composite ? .composite : .attribute)
        case .relationship(let relationship) where relationship.isToMany:
          relationship.isTransient ? .transientToMany : .toMany
        case .relationship(let relationship): relationship.isTransient ? .transient : .toOne
        case .fetchedProperty: .fetched
        }
    }
  }

  /// A slot of an attribute or a to-one relationship with a column, in a form that costs nothing to copy.
  struct StoredSlot: Sendable {
    let slot: Int
    let kind: SlotKind
    let form: SlotForm
    let entityNumberSlot: Int?
  }

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
    plainTypes = entity.properties.map { property in
      guard let attribute = property.attribute, !attribute.isTransient else { return nil }
      return [.transformable, .composite].contains(attribute.type) ? nil : attribute.type
    }
    kinds = entity.properties.map(SlotKind.init)
    let (kinds, forms) = (kinds, forms)
    storedSlots = entity.properties.compactMap { property in
      let slot = property.slot
      guard [.attribute, .composite, .toOne].contains(kinds[slot]) else { return nil }
      return StoredSlot(
        slot: slot, kind: kinds[slot], form: forms[slot], entityNumberSlot: property.entityNumberSlot)
    }
    relationshipsBySlot = entity.properties.map { property in model.flatMap { RelationshipLayout(property, in: $0) } }
    relationships = relationshipsBySlot.compactMap { $0 }
    toOnes = relationships.filter { !$0.isToMany && !$0.isTransient }
    destinationRoots = relationshipsBySlot.map { relationship in
      guard let relationship, let model, !relationship.isToMany, !relationship.isTransient else { return -1 }
      return model.entities[relationship.destinationIndex].root.number - 1
    }
    initialValues = ContiguousArray(
      entity.properties.map { property in
        property.attribute.flatMap { $0.isDerived ? nil : $0.defaultValue } ?? .null
      })
    transientSlots = entity.properties.indices.filter { kinds[$0] == .transient }
    oneWayReferrers = referrers
    checks = entity.properties.compactMap { PropertyCheck($0) }
    columnChecks = entity.properties.compactMap { ColumnCheck($0) }
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
