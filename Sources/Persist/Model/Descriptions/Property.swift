/// A composite whose elements are being flattened.
private struct EnclosingComposite {
  let path: [String]
  let composite: String?
  let isInOptional: Bool
  /// The default of the composite as an element of another one; null for none.
  private let standard: StoredValue
  /// The paths that the composite may have had in the attribute, beginning with today's.
  private let paths: [[String]]

  init(_ attribute: AttributeDescription) {
    (path, composite, isInOptional) = ([attribute.name], attribute.compositeName, false)
    (standard, paths) = (.null, [[]])
  }

  init(_ element: AttributeDescription, in outer: EnclosingComposite, isInOptional: Bool) {
    path = outer.path + [element.name]
    composite = element.compositeName
    self.isInOptional = isInOptional
    standard = outer.withDefault(element).defaultValue
    paths = outer.paths(of: element)
  }

  /// Returns an element with its default in this composite, which may differ from that of its type.
  func withDefault(_ element: AttributeDescription) -> AttributeDescription {
    guard case .composite(let parts) = standard else { return element }
    var element = element
    element.defaultValue = parts[element.name] ?? .null
    return element
  }

  func formerPaths(of element: AttributeDescription) -> [[String]] { Array(paths(of: element).dropFirst()) }

  private func paths(of element: AttributeDescription) -> [[String]] {
    let former = element.renamingIdentifier?.split(separator: ",").map(String.init) ?? []
    return ([element.name] + former.filter { $0 != element.name }).flatMap { name in paths.map { $0 + [name] } }
  }
}

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
    /// The paths in the attribute that the element may have had in an older version; none unless it or a composite
    /// around it was renamed.
    let formerPaths: [[String]]
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
  package private(set) var allowsNoElements = false

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
      var pending = [EnclosingComposite(attribute)]
      while let enclosing = pending.popLast() {
        let (path, name, isInOptional) = (enclosing.path, enclosing.composite, enclosing.isInOptional)
        // Cyclic composites have been rejected already; the limit only guarantees termination.
        guard path.count < 16, let name, let composite = composites[name] else { continue }
        for element in composite.elements.sorted(on: \.name) {
          let isOptional = isInOptional || element.isOptional
          if element.type == .composite {
            pending.append(EnclosingComposite(element, in: enclosing, isInOptional: isOptional))
          } else {
            if !isOptional { allowsNoElements = false }
            elements.append(
              Element(
                path: path + [element.name], attribute: enclosing.withDefault(element), slot: next,
                formerPaths: enclosing.formerPaths(of: element)))
            next += 1
          }
        }
      }
    default: break
    }
  }

  /// Returns the elements of an older version of this composite attribute whose values the elements get, by slot.
  ///
  /// A declared former name takes precedence over the same name, which may have another meaning today.
  package func formerElements(in old: Property) -> [Int: Element] {
    let paths = old.elements.map { (Array($0.path.dropFirst()), $0) }
    var left = Dictionary(paths, uniquingKeysWith: { first, _ in first })
    var found: [Int: Element] = Dictionary()
    for element in elements {
      for path in element.formerPaths where found[element.slot] == nil {
        found[element.slot] = left.removeValue(forKey: path)
      }
    }
    for element in elements where found[element.slot] == nil {
      found[element.slot] = left.removeValue(forKey: Array(element.path.dropFirst()))
    }
    return found
  }

  /// Returns the element of this newer version of a composite attribute that gets the values of an old element.
  package func element(from former: Element, of old: Property) -> Element? {
    let former = formerElements(in: old).first { $0.value.slot == former.slot }
    return former.flatMap { found in elements.first { $0.slot == found.key } }
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
