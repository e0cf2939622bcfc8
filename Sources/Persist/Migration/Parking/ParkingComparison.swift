/// Whether the parts of a model have a place in another one, to which they lead and from which they come back.
///
/// A place exists only if the names correspond in both directions: what a migration to the other model takes from here,
/// a migration back returns to here.
package struct ParkingComparison {
  /// From the model with the parts to the other one.
  let there: ModelComparison
  /// From the other one to the model with the parts.
  let back: ModelComparison
  /// The entities of the model whose objects are parked.
  var parkedEntities: Set<String> = []

  package var model: ManagedObjectModel { there.old }
  var other: ManagedObjectModel { there.new }

  /// The place of an attribute, or of an element of a composite one.
  package struct AttributePlace {
    package let entity: Entity
    package let attribute: AttributeDescription
    package let property: String
    /// Whether every value comes back as it was, nulls included.
    package let isExact: Bool
    /// Whether every value that isn't missing comes back as it was.
    package let isReversible: Bool
    /// The range of integers that the other attribute's type represents exactly; nil if it represents all.
    package let range: ClosedRange<Int64>?
    /// The change of the mark of bytes that may be in files.
    package let mark: MarkChange
  }

  package struct RelationshipPlace {
    package let entity: Entity
    package let relationship: RelationshipDescription
    /// Whether every pair comes back at its place.
    package let isExact: Bool
  }

  // MARK: Entities

  /// The entity whose objects an entity's objects become, and from which they come back.
  @inline(never)
  package func entity(_ entity: Entity) -> Entity? {
    guard let name = there.correspondence.newName(ofEntity: entity.name),
      back.correspondence.entities[entity.name] == name, let found = other.entitiesByName[name],
      found.isAbstract == entity.isAbstract, !isWithheld(entity)
    else { return nil }
    return found
  }

  /// Whether an entity's parked objects would return to a table that combines the rows of several tables, where others
  /// may have their keys.
  func isWithheld(_ entity: Entity) -> Bool {
    guard parkedEntities.contains(entity.name),
      let found = there.correspondence.newName(ofEntity: entity.name).flatMap({ other.entitiesByName[$0] })
    else { return false }
    return Set(other.hierarchy(of: found.root).compactMap { there.source(of: $0)?.root.name }).count > 1
  }

  /// Whether objects of an entity become others than those that come back to it.
  package func isCrossed(_ entity: Entity) -> Bool {
    guard self.entity(entity) == nil else { return false }
    return there.correspondence.newName(ofEntity: entity.name) != nil
      || back.correspondence.entities[entity.name] != nil
  }

  /// The names of the entities whose objects a slot's values belong to.
  func participants(of slot: ParkedSlot, _ entity: Entity) -> Set<String> {
    guard slot.kind == .relationship, let relationship = entity.relationship(named: slot.property) else {
      return [entity.name]
    }
    return Set((model.hierarchy(of: entity) + model.hierarchy(of: model.destination(of: relationship))).map(\.name))
  }

  // MARK: Attributes

  /// - Parameter path: The names from a composite attribute to the element; empty for a whole attribute.
  package func place(ofAttribute name: String, _ path: [String], in entity: Entity) -> AttributePlace? {
    guard let found = self.entity(entity), let old = element(name, path, of: entity),
      let property = there.correspondence.newName(of: name, inOldEntity: entity.name),
      back.correspondence.origin(of: name, in: entity.name)?.source == property,
      let new = newElement(property, of: found, from: name, path, of: entity), !new.isTransient, !new.isDerived
    else { return nil }
    let conversion = AttributeConversion(from: old.type, to: new.type)
    guard conversion != .refused else { return nil }
    let fills = [
      there.correspondence.origin(of: property, in: found.name)?.fill,
      back.correspondence.origin(of: name, in: entity.name)?.fill,
    ]
    let isFilled = fills.contains { $0 != nil }
    let isReversible = AttributeConversion(from: new.type, to: old.type) != .refused
    return AttributePlace(
      entity: found, attribute: new, property: property, isExact: !isFilled && isReversible,
      isReversible: isReversible, range: conversion.range,
      mark: MarkChange(from: old, to: new))
  }

  /// Whether a missing value of a new object of the other model becomes a default on the way back.
  func isFilled(ofAttribute name: String, in entity: Entity) -> Bool {
    back.correspondence.origin(of: name, in: entity.name)?.fill != nil
  }

  /// The attribute of the other model from which an attribute takes its values on the way back; nil if that one has
  /// the values of another attribute, which no parked value may replace.
  func standIn(ofAttribute name: String, in entity: Entity) -> (entity: Entity, property: String)? {
    guard let source = back.source(of: entity),
      let property = back.correspondence.origin(of: name, in: entity.name)?.source,
      there.correspondence.origin(of: property, in: source.name)?.source ?? name == name
    else { return nil }
    return (source, property)
  }

  private func element(_ name: String, _ path: [String], of entity: Entity) -> AttributeDescription? {
    guard let attribute = entity.attribute(named: name) else { return nil }
    guard !path.isEmpty else { return attribute }
    return entity.property(named: name)?.elements.first { Array($0.path.dropFirst()) == path }?.attribute
  }

  /// The attribute of the other model, or the element of it, that gets the values of one of this model.
  private func newElement(
    _ property: String, of found: Entity, from name: String, _ path: [String], of entity: Entity
  ) -> AttributeDescription? {
    guard !path.isEmpty else { return found.attribute(named: property) }
    guard let old = entity.property(named: name), let new = found.property(named: property),
      let element = old.elements.first(where: { $0.path.dropFirst().elementsEqual(path) })
    else { return nil }
    let target = new.element(from: element, of: old) ?? old.formerElements(in: new)[element.slot]
    return target?.attribute
  }

  /// Whether an attribute of the other model, or an element of it, stores the values of one of this model.
  ///
  /// - Parameter property: The name in the other model.
  func storesValues(of name: String, _ path: [String], in entity: Entity, as property: String) -> Bool {
    guard let found = there.correspondence.newName(ofEntity: entity.name).flatMap({ other.entitiesByName[$0] }),
      let new = newElement(property, of: found, from: name, path, of: entity)
    else { return false }
    return !new.isTransient && !new.isDerived
  }

  // MARK: Relationships

  /// Whether a relationship or its inverse is ordered.
  func isOrdered(_ name: String, of declaring: Entity) -> Bool {
    guard let relationship = declaring.relationship(named: name) else { return false }
    return relationship.isOrdered || model.inverse(of: relationship)?.isOrdered == true
  }

  /// The entity of the other model whose table has the objects of an entity or of a subentity.
  package func anyHeir(of entity: Entity) -> Entity? {
    model.hierarchy(of: entity).lazy.compactMap { self.entity($0) }.first
  }

  /// The place of a relationship that an entity declares.
  package func place(ofRelationship name: String, of declaring: Entity) -> RelationshipPlace? {
    guard let found = entity(declaring), let old = declaring.relationship(named: name),
      let property = sharedName(of: name, declaring), let new = found.relationship(named: property),
      !new.isTransient, new.isToMany == old.isToMany
    else { return nil }
    let (oldInverse, newInverse) = (model.inverse(of: old), other.inverse(of: new))
    guard (oldInverse == nil) == (newInverse == nil), oldInverse?.isToMany == newInverse?.isToMany else { return nil }
    let (oldTarget, newTarget) = (model.destination(of: old), other.destination(of: new))
    // In another table, other objects may have the keys.
    guard stay(declaring, in: found.root), stay(oldTarget, in: newTarget.root) else { return nil }
    if let oldInverse, let newInverse, sharedName(of: oldInverse.name, oldTarget) != newInverse.name { return nil }
    // Entities that leave the destination's hierarchy can't be members any longer.
    let areAllThere = model.hierarchy(of: declaring).allSatisfy { entity($0) != nil }
      && model.hierarchy(of: oldTarget).allSatisfy { entity($0)?.isKind(of: newTarget) == true }
    let isDeclaredAlike = there.declaring(new, of: found) === found && entity(oldTarget) === newTarget
    let isOrderKept =
      (!old.isOrdered || new.isOrdered) && (oldInverse?.isOrdered != true || newInverse?.isOrdered == true)
    return RelationshipPlace(
      entity: found, relationship: new, isExact: areAllThere && isDeclaredAlike && isOrderKept)
  }

  /// Whether all objects of an entity and its subentities that exist in the other model belong to a hierarchy of it.
  private func stay(_ entity: Entity, in root: Entity) -> Bool {
    model.hierarchy(of: entity).allSatisfy { heir in
      (self.entity(heir) ?? self.entity(heir.root)).map { $0.root === root } ?? heir.isAbstract
    }
  }

  /// The name that a property has in all entities of a hierarchy; nil if there is none, or if it doesn't come back.
  private func sharedName(of name: String, _ declaring: Entity) -> String? {
    let names = model.hierarchy(of: declaring).compactMap { heir -> String? in
      guard entity(heir) != nil else { return nil }
      guard let found = there.correspondence.newName(of: name, inOldEntity: heir.name),
        back.correspondence.origin(of: name, in: heir.name)?.source == found
      else { return "" }
      return found
    }
    guard let first = names.first, !first.isEmpty, names.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// A relationship of the other model from which a relationship takes its pairs on the way back.
  struct StandIn {
    let source: Entity
    let property: String
    /// Whether it is a source of the inverse, so that its members are the owners.
    let isTurned: Bool
  }

  /// The sources of a relationship's pairs on the way back, by the entity whose objects have the pairs.
  ///
  /// There are several if the other model lacks the declaring entity: its heirs then declare their own. If the other
  /// model has only the inverse, that is the only source.
  func standIns(
    ofRelationship relationship: RelationshipDescription, of declaring: Entity
  ) -> [(heir: Entity, standIns: [StandIn])] {
    let inverse = model.inverse(of: relationship).map { inverse in
      model.hierarchy(of: model.destination(of: relationship)).compactMap { member in
        standIn(ofAttribute: inverse.name, in: member).map { StandIn(source: $0, property: $1, isTurned: true) }
      }
    }
    return model.hierarchy(of: declaring).map { heir in
      let own = standIn(ofAttribute: relationship.name, in: heir)
        .map { StandIn(source: $0, property: $1, isTurned: false) }
      return (heir, [own].compactMap { $0 } + (inverse ?? []))
    }
  }
}

extension ModelComparison {
  /// The attribute of the old model, or the element of it, whose values an attribute of the new one takes.
  func formerAttribute(of property: String, _ path: [String], in entity: Entity) -> AttributeDescription? {
    guard let source = source(of: entity), let name = correspondence.origin(of: property, in: entity.name)?.source
    else { return nil }
    guard !path.isEmpty else { return source.attribute(named: name) }
    return source.property(named: name)?.elements.first { $0.path.dropFirst().elementsEqual(path) }?.attribute
  }
}
