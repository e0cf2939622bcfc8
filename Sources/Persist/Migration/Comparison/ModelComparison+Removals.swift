extension ModelComparison {
  /// The entities, attributes and relationships that only the old model has.
  func removals() -> [MigrationOperation] {
    old.entities.flatMap { entity -> [MigrationOperation] in
      guard let name = correspondence.newName(ofEntity: entity.name), let successor = new.entitiesByName[name] else {
        return [
          MigrationOperation(
            .removeEntity, entity: entity.name, losesData: !entity.isAbstract)
        ]
      }
      return isUnchanged(successor)
        ? [] : attributeRemovals(entity, to: successor) + relationshipRemovals(entity, to: successor)
    }
  }

  private func attributeRemovals(_ entity: Entity, to successor: Entity) -> [MigrationOperation] {
    entity.description.attributes.sorted(on: \.name).compactMap { attribute in
      guard !isKept(attribute.name, of: entity) else { return nil }
      // An attribute that only becomes transient, persistent or derived isn't removed; the new model's side reports the
      // change.
      if let now = successor.attribute(named: attribute.name),
        now.isTransient || attribute.isTransient || now.isDerived && !attribute.isDerived
      {
        return nil
      }
      return MigrationOperation(
        .removeAttribute, entity: successor.name, property: attribute.name, detail: attribute.summary,
        way: attribute.isTransient ? .none : .inPlace, losesData: !attribute.isTransient && !attribute.isDerived)
    }
  }

  private func relationshipRemovals(_ entity: Entity, to successor: Entity) -> [MigrationOperation] {
    entity.description.relationships.sorted(on: \.name).compactMap { relationship in
      guard !isKept(relationship.name, of: entity) else { return nil }
      return MigrationOperation(
        .removeRelationship, entity: successor.name, property: relationship.name,
        detail: "\(relationship.isToMany ? "to many" : "to one") \(relationship.destination)",
        losesData: !relationship.isTransient && !isKeptByInverse(relationship))
    }
  }

  /// Whether an entity that comes from the property's entity or one of its subentities keeps the property.
  @inline(never)
  private func isKept(_ property: String, of entity: Entity) -> Bool {
    old.hierarchy(of: entity).contains { correspondence.newName(of: property, inOldEntity: $0.name) != nil }
  }

  /// Whether the inverse of a relationship is kept, which contains the same information.
  private func isKeptByInverse(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = old.inverse(of: relationship) else { return false }
    let destination = old.destination(of: relationship)
    return isKept(inverse.name, of: declaring(inverse, of: destination))
  }
}
