/// A property of a checked entity, with its slot.
public struct Property: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)
    case fetchedProperty(FetchedPropertyDescription)

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
    public let attribute: AttributeDescription
    public let slot: Int
  }

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
    switch kind {
    case .relationship(let relationship) where !relationship.isToMany && isHierarchy(relationship.destination):
      entityNumberSlot = next
      next += 1
    case .attribute(let attribute) where attribute.type == .composite:
      var pending = [(path: [attribute.name], composite: attribute.compositeName)]
      while let (path, name) = pending.popLast() {
        // Cyclic composites have been rejected already; the limit only guarantees termination.
        guard path.count < 16, let name, let composite = composites[name] else { continue }
        for element in composite.elements.sorted(by: { $0.name < $1.name }) {
          if element.type == .composite {
            pending.append((path + [element.name], element.compositeName))
          } else {
            elements.append(Element(path: path + [element.name], attribute: element, slot: next))
            next += 1
          }
        }
      }
    default: break
    }
  }

  public var name: String { kind.name }

  public var attribute: AttributeDescription? { if case .attribute(let value) = kind { value } else { nil } }
  public var relationship: RelationshipDescription? { if case .relationship(let value) = kind { value } else { nil } }
  public var fetchedProperty: FetchedPropertyDescription? {
    if case .fetchedProperty(let value) = kind { value } else { nil }
  }

  public var isTransient: Bool { attribute?.isTransient ?? relationship?.isTransient ?? true }
  public var isToOne: Bool { relationship.map { !$0.isToMany } ?? false }
  public var isToMany: Bool { relationship?.isToMany ?? false }
}
