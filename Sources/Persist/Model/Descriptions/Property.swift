/// A property of a checked entity, with its slot.
public struct Property: Sendable, Hashable {
  // Indirect, because descriptions have many fields and properties are copied often.
  /// The description of a property, by the kind of property.
  public indirect enum Kind: Sendable, Hashable {
    /// A stored, derived or transient attribute.
    case attribute(AttributeDescription)
    /// A to-one or to-many relationship.
    case relationship(RelationshipDescription)
    /// A property whose objects come from a request.
    case fetchedProperty(FetchedPropertyDescription)

    /// The property's name, whatever its kind.
    public var name: String {
      switch self {
      case .attribute(let attribute): attribute.name
      case .relationship(let relationship): relationship.name
      case .fetchedProperty(let fetched): fetched.name
      }
    }
  }

  /// An element of a composite attribute, flattened: `location.x` for nested composites.
  public struct Element: Sendable, Hashable {
    /// The names from the composite attribute to the element.
    public let path: [String]
    /// The element's description; never of type ``AttributeType/composite``.
    public let attribute: AttributeDescription
    /// The element's index in a row, after the slots of all properties.
    public let slot: Int
  }

  /// The property's description, by the kind of property.
  public let kind: Kind
  /// The property's index in an object and in a row, the same in all subentities.
  public let slot: Int
  /// The entity that declares the property; for an inherited property, an ancestor.
  public let declaringEntity: String
  /// The row slot of the destination's entity number, for a to-one relationship whose destination is in an entity
  /// hierarchy.
  public private(set) var entityNumberSlot: Int?
  /// The elements of a composite attribute, including nested ones.
  public private(set) var elements: [Element] = []
  /// Whether a composite attribute may have no value for any of its elements, which are all optional then.
  private(set) var allowsNoElements = false

  init(kind: Kind, slot: Int, declaringEntity: String) {
    self.kind = kind
    self.slot = slot
    self.declaringEntity = declaringEntity
  }

  mutating func assignFurtherSlots(
    from next: inout Int, isHierarchy: (String) -> Bool, composites: [String: CompositeDescription]
  ) {
    entityNumberSlot = nil
    elements = []
    allowsNoElements = false
    switch kind {
    case .relationship(let relationship) where !relationship.isToMany && isHierarchy(relationship.destination):
      entityNumberSlot = next
      next += 1
    case .attribute(let attribute) where attribute.type == .composite:
      allowsNoElements = true
      var pending = [(path: [attribute.name], composite: attribute.compositeName, isInOptional: false)]
      while let (path, name, isInOptional) = pending.popLast() {
        // Cyclic composites have been rejected already; the limit only guarantees termination.
        guard path.count < 16, let name, let composite = composites[name] else { continue }
        for element in composite.elements.sorted(by: { $0.name < $1.name }) {
          let isOptional = isInOptional || element.isOptional
          if element.type == .composite {
            pending.append((path + [element.name], element.compositeName, isOptional))
          } else {
            if !isOptional { allowsNoElements = false }
            elements.append(Element(path: path + [element.name], attribute: element, slot: next))
            next += 1
          }
        }
      }
    default: break
    }
  }

  /// The property's name, unique in its entity.
  public var name: String { kind.name }

  /// The description of an attribute; nil for other properties.
  public var attribute: AttributeDescription? { if case .attribute(let value) = kind { value } else { nil } }
  /// The description of a relationship; nil for other properties.
  public var relationship: RelationshipDescription? { if case .relationship(let value) = kind { value } else { nil } }
  /// The description of a fetched property; nil for other properties.
  public var fetchedProperty: FetchedPropertyDescription? {
    if case .fetchedProperty(let value) = kind { value } else { nil }
  }

  /// The types of a composite attribute's elements, by their paths from the attribute, such as `point.x`.
  package var elementTypes: [String: AttributeType] {
    let types = elements.map { ($0.path.dropFirst().joined(separator: "."), $0.attribute.type) }
    return Dictionary(types, uniquingKeysWith: { first, _ in first })
  }

  /// Whether stores contain no value of the property; always true for a fetched property.
  public var isTransient: Bool { attribute?.isTransient ?? relationship?.isTransient ?? true }
  /// Whether the property is a to-one relationship.
  public var isToOne: Bool { relationship.map { !$0.isToMany } ?? false }
  /// Whether the property is a to-many relationship; false for a fetched property.
  public var isToMany: Bool { relationship?.isToMany ?? false }
}
