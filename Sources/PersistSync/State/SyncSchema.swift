import Foundation
import Persist

/// The properties of a model that replicas share, by entity.
struct SyncSchema {
  /// A column of an attribute: the attribute itself, or an element of a composite.
  struct Attribute {
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
  }

  /// A relationship.
  struct Relationship {
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
  }

  /// The shared properties of an entity's objects.
  struct EntityPart {
    let entity: Entity
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var attributesByName: [String: Int] = [:]
    var relationshipsByName: [String: Int] = [:]
    /// The uniqueness constraints that concern the entity: the name of the one that declares it, with the names.
    var constraints: [(owner: String, names: [String])] = []
    /// The names in constraints.
    var constrained: Set<String> = []
    /// The entity and attribute by which objects are identified.
    var identifier: (entity: String, attribute: Attribute)?

    func attribute(_ name: String) -> Attribute? { attributesByName[name].map { attributes[$0] } }
    func relationship(_ name: String) -> Relationship? { relationshipsByName[name].map { relationships[$0] } }
  }

  let model: ManagedObjectModel
  private var parts: [EntityPart] = []
  /// Whether any entity has a to-many relationship without an inverse.
  var hasOneWay: Bool { parts.contains { $0.relationships.contains(where: \.isOneWay) } }
  /// Whether any entity has a uniqueness constraint.
  var hasConstraints: Bool { parts.contains { !$0.constraints.isEmpty } }

  subscript(entity: Entity) -> EntityPart { parts[entity.number - 1] }

  /// - Throws: `PersistenceError.Code.unknownEntity` and `PersistenceError.Code.unknownProperty` for identifiers that
  ///   don't exist.
  init(_ model: ManagedObjectModel, identifiedBy identifiers: [String: String]) throws {
    self.model = model
    for name in identifiers.keys { _ = try model.entity(named: name) }
    for entity in model.entities { parts.append(try Self.part(entity, model, identifiers)) }
  }

  private static func part(
    _ entity: Entity, _ model: ManagedObjectModel, _ identifiers: [String: String]
  ) throws -> EntityPart {
    var part = EntityPart(entity: entity)
    for property in entity.properties where !property.isTransient {
      if let attribute = property.attribute, !attribute.isDerived {
        if attribute.type == .composite {
          for element in property.elements {
            part.attributes.append(
              Attribute(
                name: element.path.joined(separator: "."), propertySlot: property.slot,
                path: Array(element.path.dropFirst()), slot: element.slot, form: SlotForm(element.attribute),
                type: element.attribute.type, defaultValue: element.attribute.defaultValue))
          }
        } else {
          part.attributes.append(
            Attribute(
              name: property.name, propertySlot: property.slot, path: [], slot: property.slot,
              form: SlotForm(attribute), type: attribute.type, defaultValue: attribute.defaultValue))
        }
      } else if let description = property.relationship {
        part.relationships.append(relationship(property, description, of: entity, model))
      }
    }
    for (index, attribute) in part.attributes.enumerated() { part.attributesByName[attribute.name] = index }
    for (index, relationship) in part.relationships.enumerated() { part.relationshipsByName[relationship.name] = index }
    var line: Entity? = entity
    while let current = line {
      if let names = current.description.uniquenessConditions.first(where: { !$0.value.isEmpty })?.key {
        throw PersistenceError(
          .invalidRequest, at: .property(current.name, names.joined(separator: ", ")),
          "Replicas don't agree on uniqueness constraints with conditions, such as that of '\(current.name)' over "
            + "\(names.joined(separator: ", ")).",
          fix: "Synchronize a model whose constraints concern all objects.")
      }
      for names in current.description.uniquenessConstraints {
        part.constraints.append((current.name, names))
        part.constrained.formUnion(names)
      }
      if part.identifier == nil, let name = identifiers[current.name] {
        guard let attribute = part.attribute(name) else {
          throw PersistenceError(
            .unknownProperty, at: .property(current.name, name), "There is no stored attribute '\(name)'.",
            fix: "Name an attribute of '\(current.name)' that identifies its objects.")
        }
        // The oldest name, so that versions before and after a renaming agree.
        part.identifier = (current.description.renamingIdentifier ?? current.name, attribute)
      }
      line = current.superentity
    }
    return part
  }

  private static func relationship(
    _ property: Property, _ description: RelationshipDescription, of entity: Entity, _ model: ManagedObjectModel
  ) -> Relationship {
    let destination = model.destination(of: description)
    let inverse = model.inverse(of: description).flatMap { destination.property(named: $0.name) }
    let isOwn = inverse.map { $0.name == property.name && $0.declaringEntity == property.declaringEntity } ?? false
    let isManyToMany = description.isToMany && inverse?.isToMany == true
    let isFirst = inverse.map {
      isOwn || (property.declaringEntity, property.name) < ($0.declaringEntity, $0.name)
    } ?? true
    return Relationship(
      property: property, name: property.name, destination: destination, inverse: inverse,
      isToMany: description.isToMany, isOrdered: description.isOrdered, hasMemberFacts: isManyToMany && isFirst,
      isOtherEnd: isManyToMany && !isFirst, isOwnInverse: isOwn)
  }
}
