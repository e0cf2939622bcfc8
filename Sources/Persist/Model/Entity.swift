/// An entity of a checked model: its description with everything it inherits, in fixed slots.
///
/// Every property has a slot. Inherited properties come first, in the slots they have in the parent, so that code
/// written against a parent's slots works for all its subentities. Own properties follow: attributes in name order,
/// then relationships, then fetched properties.
///
/// Behind the properties' slots a row has further ones for what a store needs besides: the entity numbers of
/// to-one relationships into a hierarchy, and the elements of composite attributes.
public final class Entity: Sendable {
  /// What the model file or the builder says of it; own properties only.
  public let description: EntityDescription
  public let superentity: Entity?
  /// The names of the entities whose parent this is, in name order.
  public let subentityNames: [String]
  /// The number that a newly made store gives the entity, `Z_ENT`: from 1, roots in name order, each followed by its
  /// subentities depth first. A store that was made elsewhere may use other numbers.
  public let number: Int
  /// How many entities the entity has below it at all depths; theirs are the numbers that follow ``number``.
  public let descendantCount: Int
  /// Every property by slot, inherited ones included.
  public let properties: [Property]
  /// How many slots a row of this entity has, the ones behind the properties included.
  public let rowSlotCount: Int
  /// What tells whether a store holds the entity as this model has it.
  public let fingerprint: Fingerprint
  private let slotByName: [String: Int]

  init(
    _ description: EntityDescription, superentity: Entity?, subentityNames: [String], number: Int,
    descendantCount: Int, isHierarchy: (String) -> Bool, composites: [String: CompositeDescription]
  ) {
    self.description = description
    self.superentity = superentity
    self.subentityNames = subentityNames
    self.number = number
    self.descendantCount = descendantCount

    var properties = superentity?.properties ?? []
    let own: [Property.Kind] =
      description.attributes.sorted { $0.name < $1.name }.map(Property.Kind.attribute)
      + description.relationships.sorted { $0.name < $1.name }.map(Property.Kind.relationship)
      + description.fetchedProperties.sorted { $0.name < $1.name }.map(Property.Kind.fetchedProperty)
    for kind in own {
      properties.append(Property(kind: kind, slot: properties.count, declaringEntity: description.name))
    }
    var nextSlot = properties.count
    for index in properties.indices {
      properties[index].assignFurtherSlots(from: &nextSlot, isHierarchy: isHierarchy, composites: composites)
    }
    self.properties = properties
    rowSlotCount = nextSlot
    fingerprint = Fingerprint(
      canonicalText: CanonicalText(description, parent: superentity?.fingerprint, composites: composites).text)
    slotByName = Dictionary(properties.map { ($0.name, $0.slot) }, uniquingKeysWith: { first, _ in first })
  }

  public var name: String { description.name }
  public var isAbstract: Bool { description.isAbstract }
  public var hasSubentities: Bool { descendantCount > 0 }

  /// The entity at the top of the hierarchy, which owns the table; the entity itself where it has no parent.
  public var root: Entity {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }

  /// Attributes by slot, inherited ones included.
  public var attributes: [AttributeDescription] { properties.compactMap(\.attribute) }
  /// Relationships by slot, inherited ones included.
  public var relationships: [RelationshipDescription] { properties.compactMap(\.relationship) }

  /// Properties by name, inherited ones included.
  ///
  /// - Complexity: O(*properties*) for each call; ``property(named:)`` looks one up.
  public var propertiesByName: [String: Property] { slotByName.mapValues { properties[$0] } }
  /// Attributes by name, inherited ones included.
  ///
  /// - Complexity: O(*properties*) for each call; ``attribute(named:)`` looks one up.
  public var attributesByName: [String: AttributeDescription] {
    slotByName.compactMapValues { properties[$0].attribute }
  }
  /// Relationships by name, inherited ones included.
  ///
  /// - Complexity: O(*properties*) for each call; ``relationship(named:)`` looks one up.
  public var relationshipsByName: [String: RelationshipDescription] {
    slotByName.compactMapValues { properties[$0].relationship }
  }

  public func property(named name: String) -> Property? { slotByName[name].map { properties[$0] } }
  /// Without a copy of the property, which counts many references.
  func slot(named name: String) -> Int? { slotByName[name] }
  public func attribute(named name: String) -> AttributeDescription? { property(named: name)?.attribute }
  public func relationship(named name: String) -> RelationshipDescription? { property(named: name)?.relationship }

  /// Whether the entity is `other` or stands below it.
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
