/// The classes generated for the entities of a model, with their assumptions about it.
///
/// A generated property contains the slot of its entity's property as a number, which needs no lookup and is valid only
/// for the model that the class was generated from. Each class is therefore compared with its entity once for each
/// model in the process, and creating an object of a class that doesn't match traps with a message.
///
/// `persist generate` writes these lists; ``check(against:)`` compares without creating an object.
public struct GeneratedClasses: Sendable {
  /// The content of a slot, as far as generated code depends on it.
  public enum Kind: Sendable, Hashable {
    /// An attribute of this type, other than a composite one.
    case attribute(AttributeType)
    /// An attribute of a composite type with this name and these elements, each with the path from the attribute, such
    /// as `point.x`. Without elements, as older versions of the command wrote it, only the name is compared.
    case composite(String, elements: [String: AttributeType] = [:])
    /// Relationships, with the names of their destinations.
    case toOne(String)
    /// An unordered to-many relationship, with the name of its destination.
    case toMany(String)
    /// An ordered to-many relationship, with the name of its destination.
    case ordered(String)
    /// A fetched property.
    case fetched
  }

  /// A class and the properties that its entity declares, in slot order.
  public struct Member: Sendable {
    let type: ManagedObject.Type
    let entity: String
    let parent: String?
    let firstSlot: Int
    let properties: [(name: String, kind: Kind)]

    /// - Parameters:
    ///   - type: The class.
    ///   - entity: The entity that it was generated for.
    ///   - parent: The entity's parent; nil for none.
    ///   - firstSlot: The slot of the first own property, equal to the number of inherited ones.
    ///   - properties: The entity's own properties.
    public init(
      _ type: ManagedObject.Type, entity: String, parent: String? = nil, firstSlot: Int = 0,
      properties: [(String, Kind)]
    ) {
      self.type = type
      self.entity = entity
      self.parent = parent
      self.firstSlot = firstSlot
      self.properties = properties.map { (name: $0.0, kind: $0.1) }
    }
  }

  /// The name of the model version that the classes were generated from.
  public let version: String
  let members: [Member]

  /// Creates the list of the classes generated from a model version; called by generated code.
  ///
  /// - Parameters:
  ///   - version: The name of the model version, for error messages.
  ///   - members: The classes, one for each entity.
  public init(version: String, _ members: [Member]) {
    self.version = version
    self.members = members
  }

  /// The classes by entity name, for ``ManagedObjectContext/init(_:classes:)``.
  public var byEntity: [String: ManagedObject.Type] {
    Dictionary(members.map { ($0.entity, $0.type) }, uniquingKeysWith: { first, _ in first })
  }

  /// Registers the classes under their names, for contexts created from now on.
  public func register() {
    for member in members { ManagedObjectClasses.register(member.type) }
  }

  /// Compares every class with a model.
  ///
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` with every difference, if the classes were generated from
  ///   another version.
  public func check(against model: ManagedObjectModel) throws {
    let errors = members.compactMap { member -> PersistenceError? in
      guard let entity = model.entitiesByName[member.entity] else {
        return error(at: .entity(member.entity), "The model has no entity '\(member.entity)'.")
      }
      return mismatch(of: member, serving: entity).map { error(at: .entity(member.entity), $0) }
    }
    guard !errors.isEmpty else { return }
    throw PersistenceError.combining(
      errors, as: .incompatibleModel, "\(errors.count) generated classes don't fit the model.")
  }

  private func error(at place: PersistenceError.Place, _ message: String) -> PersistenceError {
    PersistenceError(.incompatibleModel, at: place, message, fix: Self.fix)
  }

  private static let fix = "Run 'persist generate' for the model that the program opens its stores with."
}

extension GeneratedClasses {
  /// Returns the generated classes that a class belongs to, and the one among them that it is or inherits from.
  static func list(of type: ManagedObject.Type) -> (classes: GeneratedClasses, member: Member)? {
    guard let classes = (type as? any GeneratedObject.Type)?.generatedClasses else { return nil }
    if let member = classes.members.first(where: { $0.type == type }) { return (classes, member) }
    for parent in ClassDeclaration(type).parents {
      if let member = classes.members.first(where: { $0.type == parent }) { return (classes, member) }
    }
    return nil
  }

  /// Returns the reason why objects of an entity can't have a class; nil if they can, and for classes that weren't
  /// generated.
  static func mismatchReason(of type: ManagedObject.Type, serving entity: Entity) -> String? {
    guard let (classes, member) = list(of: type), let reason = classes.mismatch(of: member, serving: entity) else {
      return nil
    }
    return "\(type) can't be the class of the entity '\(entity.name)': \(reason) \(fix)"
  }

  /// Returns the first difference between an entity and the assumptions of a class and its superclasses.
  private func mismatch(of member: Member, serving entity: Entity) -> String? {
    var next: Member? = member
    while let member = next {
      for (index, expected) in member.properties.enumerated() {
        let slot = member.firstSlot + index
        let place = "'\(expected.name)' of '\(member.entity)'"
        guard entity.properties.indices.contains(slot), entity.properties[slot].name == expected.name else {
          return "\(place) is missing or at another position than in the version '\(version)' that the class was "
            + "generated from."
        }
        let found = Kind(entity.properties[slot])
        if !found.fits(expected.kind) {
          return "\(place) is \(found) and was \(expected.kind) in the version '\(version)' that the class was "
            + "generated from."
        }
      }
      next = members.first { $0.entity == member.parent }
    }
    return nil
  }

  /// Returns a model of the entities as far as the classes describe them, with the same slots, for queries about
  /// classes without a model.
  package func model() throws -> ManagedObjectModel {
    let known = Set(members.map(\.entity))
    var entities = members.map { member in
      var entity = EntityDescription(member.entity, parent: member.parent)
      for (name, kind) in member.properties { kind.add(name, to: &entity) }
      return entity
    }
    let destinations = Set(entities.flatMap { $0.relationships.map(\.destination) }).subtracting(known)
    entities += destinations.sorted().map { EntityDescription($0) }
    return try ManagedObjectModel(withFlaws: ModelDescription(entities: entities))
  }

  /// Returns the property names along a key path over generated properties.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for a key path that computes a value.
  package func keys(of keyPath: AnyKeyPath) throws -> [String] {
    try KeyPathResolver(model: model(), classes: byEntity).keys(of: keyPath)
  }
}

extension GeneratedClasses.Kind {
  init(_ property: Property) {
    switch property.kind {
    case .attribute(let attribute) where attribute.type == .composite:
      self = .composite(attribute.compositeName ?? "", elements: property.elementTypes)
    case .attribute(let attribute): self = .attribute(attribute.type)
    case .relationship(let relationship) where !relationship.isToMany: self = .toOne(relationship.destination)
    case .relationship(let relationship):
      self = relationship.isOrdered ? .ordered(relationship.destination) : .toMany(relationship.destination)
    case .fetchedProperty: self = .fetched
    }
  }

  /// Whether code that was generated for an expected content can access this one.
  fileprivate func fits(_ expected: Self) -> Bool {
    if case .composite(let name, elements: _) = self,
      case .composite(let expectedName, elements: let elements) = expected, elements.isEmpty
    {
      return name == expectedName
    }
    return self == expected
  }

  fileprivate func add(_ name: String, to entity: inout EntityDescription) {
    switch self {
    case .attribute(let type):
      entity.attributes.append(AttributeDescription(name, type, isTransient: type == .undefined))
    // The elements of a composite don't matter here, only its slot.
    case .composite: entity.attributes.append(AttributeDescription(name, .transformable))
    case .toOne(let destination): entity.relationships.append(RelationshipDescription(name, to: destination))
    case .toMany(let destination): entity.relationships.append(RelationshipDescription(name, toMany: destination))
    case .ordered(let destination):
      entity.relationships.append(RelationshipDescription(name, toMany: destination, isOrdered: true))
    case .fetched:
      entity.fetchedProperties.append(
        FetchedPropertyDescription(name, request: FetchRequestDescription(entity: entity.name)))
    }
  }
}

extension GeneratedClasses.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .attribute(let type): "of type \(type.rawValue)"
    case .composite(let name, elements: let elements): "of the composite type \(name)\(Self.text(elements))"
    case .toOne(let destination): "a to-one relationship to '\(destination)'"
    case .toMany(let destination): "a to-many relationship to '\(destination)'"
    case .ordered(let destination): "an ordered relationship to '\(destination)'"
    case .fetched: "a fetched property"
    }
  }

  private static func text(_ elements: [String: AttributeType]) -> String {
    let words = elements.map { "\($0.key): \($0.value.rawValue)" }.sorted()
    return words.isEmpty ? "" : " (\(words.joined(separator: ", ")))"
  }
}
