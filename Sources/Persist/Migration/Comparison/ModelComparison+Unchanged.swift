extension ModelComparison {
  /// For each entity of the new model, whether it is declared exactly as its namesake in the old model, and all of its
  /// properties come from those of the same names.
  ///
  /// Most entities of a large model remain unchanged, and comparing their parts one by one takes many times as long.
  /// The relationships of an unchanged entity may lead to changed ones.
  static func unchangedEntities(
    from old: ManagedObjectModel, to new: ManagedObjectModel, by correspondence: ModelCorrespondence
  ) -> [Bool] {
    var unchanged: [Bool] = []
    // Each follows its superentity.
    for entity in new.entities {
      let isInheritedUnchanged = entity.superentity.map { unchanged[$0.index] } ?? true
      unchanged.append(
        (isInheritedUnchanged || !entity.namesInherited)
          && isDeclaredUnchanged(entity, since: old, by: correspondence))
    }
    return unchanged
  }

  private static func isDeclaredUnchanged(
    _ entity: Entity, since old: ManagedObjectModel, by correspondence: ModelCorrespondence
  ) -> Bool {
    guard correspondence.entities[entity.name] == entity.name, let source = old.entitiesByName[entity.name],
      source.fingerprint == entity.fingerprint, source.description == entity.description,
      let origins = correspondence.properties[entity.name]
    else { return false }
    return entity.description.attributes.allSatisfy { attribute in
      // The elements of a composite type may have changed under its name.
      attribute.type != .composite && attribute.type != .undefined
        && (attribute.isTransient || origins[attribute.name]?.source == attribute.name)
    } && entity.description.relationships.allSatisfy { origins[$0.name]?.source == $0.name }
  }

  /// Whether an entity of the new model is declared as in the old one; see ``unchangedEntities(from:to:by:)``.
  func isUnchanged(_ entity: Entity) -> Bool { unchanged[entity.index] }
}

extension Entity {
  /// Whether its constraints or indexes may name inherited attributes, whose sources may have been exchanged.
  fileprivate var namesInherited: Bool {
    !description.uniquenessConstraints.isEmpty || !description.indexes.isEmpty || !description.compoundIndexes.isEmpty
  }
}
