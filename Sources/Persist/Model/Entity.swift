/// An entity of a checked model: its description and everything it inherits, in fixed slots.
///
/// Every property has a slot. Inherited properties come first, in the same slots as in the parent, so that code written
/// for a parent's slots works for all its subentities. Own properties follow: attributes in name order, then
/// relationships, then fetched properties.
///
/// After the properties' slots a row has further ones for values that only a store needs: the entity numbers of to-one
/// relationships into a hierarchy, and the elements of composite attributes.
public final class Entity: Sendable {
  /// The entity as described by the model file or the builder; own properties only.
  public let description: EntityDescription
  /// The parent entity, whose properties this one inherits; nil for the root of a hierarchy.
  public let superentity: Entity?
  /// The names of the direct subentities, sorted.
  public let subentityNames: [String]
  /// The entity's number in a newly created store, `Z_ENT`: counted from 1, roots in name order, each followed by its
  /// subentities depth first. Stores created by others may use different numbers.
  public let number: Int
  /// The entity's index in ``ManagedObjectModel/entities``, and in every list that has an element for each entity.
  @inlinable
  package var index: Int { number - 1 }
  /// The number of entities below this one at all depths; their numbers follow ``number``.
  public let descendantCount: Int
  /// All properties by slot, including inherited ones.
  public let properties: [Property]
  /// The number of slots in a row of this entity, including those after the properties.
  public let rowSlotCount: Int
  /// The fingerprint that shows whether a store has the same form of the entity as this model.
  public let fingerprint: Fingerprint
  /// Whether the entity's own description declares an index, in the present form or an old one.
  package let declaresIndexes: Bool
  /// Whether a store keeps some of the entity's own attributes up to date by triggers: derived and full-text searched
  /// ones.
  package let requiresTriggers: Bool
  package let slotByName: [String: Int]
  /// The entity at the top of the hierarchy; nil for itself.
  private let top: Entity?

  init(
    _ description: EntityDescription, superentity: Entity?, subentityNames: [String], number: Int,
    descendantCount: Int, isHierarchy: (String) -> Bool, composites: [String: CompositeDescription]
  ) {
    self.description = description
    self.superentity = superentity
    top = superentity?.root
    self.subentityNames = subentityNames
    self.number = number
    self.descendantCount = descendantCount

    var properties = superentity?.properties ?? []
    let own: [Property.Kind] =
      description.attributes.sorted(on: \.name).map(Property.Kind.attribute)
      + description.relationships.sorted(on: \.name).map(Property.Kind.relationship)
      + description.fetchedProperties.sorted(on: \.name).map(Property.Kind.fetchedProperty)
    for kind in own {
      properties.append(Property(kind: kind, slot: properties.count, declaringEntity: description.name))
    }
    var nextSlot = properties.count
    for index in properties.indices {
      properties[index].assignFurtherSlots(from: &nextSlot, isHierarchy: isHierarchy, composites: composites)
    }
    declaresIndexes =
      !description.indexes.isEmpty || !description.compoundIndexes.isEmpty
      || description.attributes.contains(where: \.isIndexed)
    requiresTriggers = description.attributes.contains { $0.isDerived || $0.isFullTextSearched }
    self.properties = properties
    rowSlotCount = nextSlot
    fingerprint = Fingerprint(
      canonicalText: CanonicalText(description, parent: superentity?.fingerprint, composites: composites).text)
    slotByName = Dictionary(properties.map { ($0.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
  }

  /// The properties that the entity declares itself, which follow those of its superentity.
  package var ownProperties: ArraySlice<Property> { properties[(superentity?.properties.count ?? 0)...] }

  /// Those of the slots whose properties another entity of the hierarchy has too.
  package func slots(_ slots: [Int], sharedWith other: Entity) -> [Int] {
    guard other !== self else { return slots }
    return slots.filter { slot in
      other.properties.indices.contains(slot)
        && other.properties[slot].declaringEntity == properties[slot].declaringEntity
    }
  }

  /// The entity's name, unique in its model.
  public var name: String { description.name }
  /// Whether the entity has no objects of its own, only those of subentities.
  public var isAbstract: Bool { description.isAbstract }
  /// Whether the entity has descendants, whose rows are in the same table.
  public var hasSubentities: Bool { descendantCount > 0 }

  /// The entity at the top of the hierarchy, which owns the table; the entity itself if it has no parent.
  public var root: Entity { top ?? self }

  /// Attributes by slot, including inherited ones.
  public var attributes: [AttributeDescription] { properties.compactMap(\.attribute) }
  /// Relationships by slot, including inherited ones.
  public var relationships: [RelationshipDescription] { properties.compactMap(\.relationship) }

  /// Properties by name, including inherited ones.
  ///
  /// - Complexity: O(*properties*) for each call; ``property(named:)`` looks one up.
  public var propertiesByName: [String: Property] { slotByName.mapValues { properties[$0] } }
  /// Attributes by name, including inherited ones.
  ///
  /// - Complexity: O(*properties*) for each call; ``attribute(named:)`` looks one up.
  public var attributesByName: [String: AttributeDescription] {
    slotByName.compactMapValues { properties[$0].attribute }
  }
  /// Relationships by name, including inherited ones.
  ///
  /// - Complexity: O(*properties*) for each call; ``relationship(named:)`` looks one up.
  public var relationshipsByName: [String: RelationshipDescription] {
    slotByName.compactMapValues { properties[$0].relationship }
  }

  /// Returns the property with a name, own or inherited; nil if there is none. Takes constant time.
  @inline(never)
  public func property(named name: String) -> Property? { slotByName[name].map { properties[$0] } }
  /// Returns the slot without copying the property, which contains many reference-counted values.
  package func slot(named name: String) -> Int? { slotByName[name] }
  /// Returns the attribute with a name, own or inherited; nil if there is none. Takes constant time.
  public func attribute(named name: String) -> AttributeDescription? { property(named: name)?.attribute }
  /// Returns the relationship with a name, own or inherited; nil if there is none. Takes constant time.
  @inline(never)
  public func relationship(named name: String) -> RelationshipDescription? { property(named: name)?.relationship }

  /// Whether the entity is `other` or a descendant of it.
  public func isKind(of other: Entity) -> Bool {
    var entity: Entity? = self
    while let current = entity {
      if current === other { return true }
      entity = current.superentity
    }
    return false
  }
}

extension Entity: Hashable {
  public static func == (left: Entity, right: Entity) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Entity {
  /// Returns the stored attribute that a key names, and the element if it is composite: `name`, `location.x`.
  ///
  /// - Returns: nil if the key doesn't name anything that is stored in one column.
  func storedAttribute(_ key: String) -> (property: Property, element: Property.Element?)? {
    let path = key.dottedKeys
    guard let name = path.first, let property = property(named: name), let attribute = property.attribute,
      !attribute.isTransient
    else { return nil }
    guard attribute.type == .composite else { return path.count == 1 ? (property, nil) : nil }
    return property.elements.first { $0.path == path }.map { (property, $0) }
  }
}
