import Foundation
import Persist

/// The properties of a model that replicas share, by entity.
struct SyncSchema {
  /// A column of an attribute: the attribute itself, or an element of a composite.
  final class Attribute: Sendable {
    /// The name in facts.
    let name: String
    /// The slot of the property.
    let propertySlot: Int
    /// The path in a composite; empty for other attributes.
    let path: [String]
    let slot: Int
    let form: SlotForm
    let type: AttributeType
    let defaultValue: StoredValue
    /// Whether the store's texts may contain U+0000.
    let holdsNullCharacters: Bool
    /// Whether members of JSON values are merged one by one.
    let hasMembers: Bool

    init(
      _ name: String, _ attribute: AttributeDescription, of property: Property, path: [String] = [], slot: Int,
      holdsNullCharacters: Bool
    ) {
      (self.name, propertySlot, self.path, self.slot) = (name, property.slot, path, slot)
      (form, type, defaultValue) = (SlotForm(attribute), attribute.type, attribute.defaultValue)
      self.holdsNullCharacters = holdsNullCharacters
      hasMembers = type == .string && path.isEmpty && !attribute.isSynchronizedAsWhole
    }
  }

  /// A relationship.
  final class Relationship: Sendable {
    let property: Property
    let name: String
    let destination: Entity
    let inverse: Property?
    let isToMany: Bool
    let isOrdered: Bool

    /// Whether the ends of the relationship are registers: to-one relationships.
    var isRegister: Bool { !isToMany }
    /// Whether each end has at most one object.
    var isOneToOne: Bool { !isToMany && inverse?.isToMany == false }
    /// Whether the relationship has members that are facts: those of one end of a many-to-many relationship.
    let hasMemberFacts: Bool
    /// Whether the other end has the facts.
    let isOtherEnd: Bool
    /// Whether it is a to-many relationship without an inverse: the members' facts name the owner.
    var isOneWay: Bool { isToMany && inverse == nil }
    /// Whether both ends are the same relationship.
    let isOwnInverse: Bool

    fileprivate init(
      _ property: Property, _ description: RelationshipDescription, of entity: Entity, _ model: ManagedObjectModel
    ) {
      let destination = model.destination(of: description)
      let inverse = model.inverse(of: description).flatMap { destination.property(named: $0.name) }
      let isOwn = inverse.map { $0.name == property.name && $0.declaringEntity == property.declaringEntity } ?? false
      let isManyToMany = description.isToMany && inverse?.isToMany == true
      let isFirst = inverse.map {
        isOwn || (property.declaringEntity, property.name) < ($0.declaringEntity, $0.name)
      } ?? true
      (self.property, name, self.destination, self.inverse) = (property, property.name, destination, inverse)
      (isToMany, isOrdered) = (description.isToMany, description.isOrdered)
      (hasMemberFacts, isOtherEnd, isOwnInverse) = (isManyToMany && isFirst, isManyToMany && !isFirst, isOwn)
    }
  }

  /// A uniqueness constraint.
  struct Constraint {
    /// A column that takes part: an attribute or a relationship.
    struct Part {
      let name: String
      /// Nil for a relationship.
      let attribute: Attribute?
    }

    /// The entity that declares it.
    let owner: String
    let parts: [Part]
    /// The tests that the values of an object pass which it concerns.
    let conditions: [(attribute: Attribute, test: UniquenessCondition.Test)]
  }

  /// The shared properties of an entity's objects. One for each entity, which passes refer to row by row.
  final class EntityPart: Sendable {
    let entity: Entity
    let attributes: [Attribute]
    let relationships: [Relationship]
    let attributesByName: [String: Int]
    /// The attributes of a property: several for a composite.
    let attributesByProperty: [String: [Int]]
    let relationshipsByName: [String: Int]
    /// The uniqueness constraints that concern the entity, also those of its superentities.
    let constraints: [Constraint]
    /// The names in constraints and in their conditions.
    let constrained: Set<String>
    /// The entity and attribute by which objects are identified, with the entity's oldest name.
    let identifier: (entity: String, attribute: Attribute)?
    /// The oldest name of the entity in whose table the rows are.
    let oldestRoot: String

    fileprivate init(_ entity: Entity, _ attributes: [Attribute], _ relationships: [Relationship]) {
      (self.entity, self.attributes, self.relationships) = (entity, attributes, relationships)
      var properties: [String: [Int]] = [:]
      for (index, attribute) in attributes.enumerated() {
        properties[entity.properties[attribute.propertySlot].name, default: []].append(index)
      }
      attributesByProperty = properties
      attributesByName = Dictionary(
        attributes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last })
      relationshipsByName = Dictionary(
        relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last })
      (constraints, constrained, identifier, oldestRoot) = ([], [], nil, "")
    }

    fileprivate init(
      _ part: EntityPart, _ constraints: [Constraint], identifier: (entity: String, attribute: Attribute)?,
      oldestRoot: String
    ) {
      (entity, attributes, relationships) = (part.entity, part.attributes, part.relationships)
      (attributesByName, attributesByProperty) = (part.attributesByName, part.attributesByProperty)
      relationshipsByName = part.relationshipsByName
      self.constraints = constraints
      constrained = Set(constraints.flatMap { $0.parts.map(\.name) + $0.conditions.map(\.attribute.name) })
      (self.identifier, self.oldestRoot) = (identifier, oldestRoot)
    }

    func attribute(_ name: String) -> Attribute? { attributesByName[name].map { attributes[$0] } }
    func relationship(_ name: String) -> Relationship? { relationshipsByName[name].map { relationships[$0] } }
  }

  let model: ManagedObjectModel
  private let parts: [EntityPart]
  /// Whether any entity has a to-many relationship without an inverse.
  let hasOneWay: Bool
  /// Whether any entity has a uniqueness constraint.
  let hasConstraints: Bool

  /// The attributes that identify objects, by entity.
  var identifiers: [String: String] {
    Dictionary(
      parts.compactMap { part in part.identifier.map { (part.entity.name, $0.attribute.name) } },
      uniquingKeysWith: { first, _ in first })
  }

  subscript(entity: Entity) -> EntityPart { parts[entity.index] }

  /// The entities, those first to which others have to-one relationships, as far as they don't depend on each other:
  /// objects that arrive in this order find those to which they refer.
  let ordered: [Entity]

  /// - Throws: `PersistenceError.Code.unknownEntity` and `PersistenceError.Code.unknownProperty` for identifiers that
  ///   don't exist.
  ///   `PersistenceError.Code.invalidRequest` for uniqueness constraints over derived attributes.
  init(
    _ model: ManagedObjectModel, identifiedBy identifiers: [String: String], among versions: [ModelVersion] = [],
    mappings: VersionMappings = .none, holdsNullCharacters: Bool = true
  ) throws {
    self.model = model
    for name in identifiers.keys { _ = try model.entity(named: name) }
    let names = OldestNames(model, among: versions, mappings)
    parts = try model.entities.map { entity in
      try Self.part(entity, of: model, identifiedBy: identifiers, names, holdsNullCharacters: holdsNullCharacters)
    }
    ordered = Self.ordered(model, parts)
    hasOneWay = parts.contains { $0.relationships.contains(where: \.isOneWay) }
    hasConstraints = parts.contains { !$0.constraints.isEmpty }
  }

  private static func ordered(_ model: ManagedObjectModel, _ parts: [EntityPart]) -> [Entity] {
    var left = model.entities
    var targets: [String: Set<String>] = [:]
    for part in parts {
      let names = part.relationships.filter { $0.isRegister }.map(\.destination.root.name)
      targets[part.entity.root.name, default: []].formUnion(names)
    }
    var (ordered, done): ([Entity], Set<String>) = ([], [])
    while let first = left.first {
      let isFree = { (entity: Entity) in
        targets[entity.root.name, default: []].subtracting([entity.root.name]).isSubset(of: done)
      }
      let next = left.first(where: isFree) ?? first
      done.insert(next.root.name)
      ordered += left.filter { $0.root.name == next.root.name }
      left.removeAll { $0.root.name == next.root.name }
    }
    return ordered
  }

  private static func part(
    _ entity: Entity, of model: ManagedObjectModel, identifiedBy identifiers: [String: String], _ names: OldestNames,
    holdsNullCharacters: Bool
  ) throws -> EntityPart {
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    for property in entity.properties where !property.isTransient {
      if let attribute = property.attribute, !attribute.isDerived {
        if attribute.type == .composite {
          for element in property.elements {
            attributes.append(
              Attribute(
                element.path.joined(separator: "."), element.attribute, of: property,
                path: Array(element.path.dropFirst()), slot: element.slot, holdsNullCharacters: holdsNullCharacters))
          }
        } else {
          attributes.append(
            Attribute(
              property.name, attribute, of: property, slot: property.slot, holdsNullCharacters: holdsNullCharacters))
        }
      } else if let description = property.relationship {
        relationships.append(Relationship(property, description, of: entity, model))
      }
    }
    let part = EntityPart(entity, attributes, relationships)
    var constraints: [Constraint] = []
    var identifier: (entity: String, attribute: Attribute)?
    for current in sequence(first: entity, next: \.superentity) {
      constraints += try current.description.uniquenessConstraints.compactMap {
        try constraint($0, of: current, part)
      }
      guard identifier == nil, let name = identifiers[current.name] else { continue }
      guard let attribute = part.attribute(name) else {
        throw PersistenceError(
          .unknownProperty, at: .property(current.name, name), "There is no stored attribute '\(name)'.",
          fix: "Name an attribute of '\(current.name)' that identifies its objects.")
      }
      identifier = (names.name(of: current), attribute)
    }
    return EntityPart(part, constraints, identifier: identifier, oldestRoot: names.root(of: entity))
  }

  /// - Returns: Nil for a constraint that no two rows can violate: each object is the destination of at most one row
  ///   in a one-to-one relationship.
  private static func constraint(
    _ names: [String], of entity: Entity, _ part: EntityPart
  ) throws -> Constraint? {
    var parts: [Constraint.Part] = []
    for name in names {
      if let relationship = part.relationship(name) {
        if relationship.isOneToOne { return nil }
        parts.append(Constraint.Part(name: name, attribute: nil))
        continue
      }
      // A composite is unique by all of its elements.
      let attributes = part.attributes.filter { $0.name == name || $0.name.hasPrefix(name + ".") }
      guard !attributes.isEmpty else {
        throw PersistenceError(
          .invalidRequest, at: .property(entity.name, name),
          "Replicas can't agree on unique values of '\(name)': each store computes the attribute of its own.",
          fix: "Remove it from the constraint over \(names.joined(separator: ", ")), or store the value in an "
            + "attribute that isn't derived.")
      }
      parts += attributes.map { Constraint.Part(name: $0.name, attribute: $0) }
    }
    let conditions = (entity.description.uniquenessConditions[names] ?? []).compactMap { condition in
      part.attribute(condition.attribute).map { ($0, condition.test) }
    }
    return Constraint(owner: entity.name, parts: parts, conditions: conditions)
  }
}
