import Foundation

extension ModelCheck {
  /// Returns the description with its flaws repaired or removed as far as possible; it must have no errors.
  ///
  /// Limits in the wrong order are kept, though no value can satisfy them. So are configurations and requests with
  /// entities that don't exist: they are requested by name and fail then.
  func repaired() -> ModelDescription {
    var result = description
    for index in result.composites.indices {
      result.composites[index].elements = result.composites[index].elements.map { Self.repaired($0) }
    }
    result.entities = result.entities.map { repaired($0) }
    return Self.withPairedInverses(result)
  }

  private func repaired(_ entity: EntityDescription) -> EntityDescription {
    var result = entity
    result.attributes = entity.attributes.filter { !isRepetition($0.name, of: entity) }.map { Self.repaired($0) }
    result.relationships = entity.relationships.filter { !isRepetition($0.name, of: entity) }.map { Self.repaired($0) }
    result.fetchedProperties.removeAll { isRepetition($0.name, of: entity) }
    result.uniquenessConstraints.removeAll { names in
      // Without its condition, a constraint would be a stricter one.
      let conditions = entity.uniquenessConditions[names] ?? []
      return !areSound(names, in: entity, isUnique: true)
        || conditions.contains { problem(with: $0, of: names, in: entity) != nil }
    }
    let constraints = result.uniquenessConstraints
    result.uniquenessConditions = entity.uniquenessConditions.filter { constraints.contains($0.key) }
    result.compoundIndexes.removeAll { !areSound($0, in: entity, isUnique: false) }
    var names: Set<String> = []
    result.indexes.removeAll { index in
      let named = index.elements.compactMap { element -> String? in
        if case .property(let name) = element.subject { name } else { nil }
      }
      return !names.insert(index.name).inserted || named.contains { columnProblem($0, of: entity.name) != nil }
    }
    return result
  }

  private func areSound(_ names: [String], in entity: EntityDescription, isUnique: Bool) -> Bool {
    !names.isEmpty && names.allSatisfy { columnProblem($0, of: entity.name, isUnique: isUnique) == nil }
  }

  private func isRepetition(_ name: String, of entity: EntityDescription) -> Bool {
    guard let parent = entity.parent, let inherited = property(name, of: parent) else { return false }
    return isRepeated(name, of: entity, from: inherited.kind)
  }

  private static func repaired(_ attribute: AttributeDescription) -> AttributeDescription {
    var attribute = attribute
    if [.undefined, .objectID].contains(attribute.type) { attribute.isTransient = true }
    if attribute.problem(with: attribute.defaultValue) != nil { attribute.defaultValue = .null }
    if let pattern = attribute.validation.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
      attribute.validation.pattern = nil
    }
    return attribute
  }

  private static func repaired(_ relationship: RelationshipDescription) -> RelationshipDescription {
    var relationship = relationship
    relationship.minimumCount = max(0, relationship.minimumCount)
    relationship.maximumCount = max(0, relationship.maximumCount)
    return relationship
  }

  // MARK: Inverses

  /// Completes inverses that only one side names, then removes those that still don't pair.
  private static func withPairedInverses(_ description: ModelDescription) -> ModelDescription {
    var result = description
    let check = ModelCheck(result)
    var completed: [[String]: String] = Dictionary()
    for entity in result.entities {
      for relationship in entity.relationships {
        guard let name = relationship.inverse,
          case .oneSided(nil, let declaring)? = check.inverseFlaw(of: relationship, in: entity.name),
          case .relationship(let inverse)? = check.ownProperty(name, of: declaring),
          check.isOneHierarchy(inverse.destination, entity.name), completed[[declaring, name]] == nil
        else { continue }
        completed[[declaring, name]] = relationship.name
      }
    }
    result.changeInverses { entity, relationship in
      completed[[entity.name, relationship.name]] ?? relationship.inverse
    }
    // Removing one can make another one-sided; each round removes at least one, and real models need two rounds.
    var isChanged = true
    while isChanged {
      isChanged = false
      let check = ModelCheck(result)
      result.changeInverses { entity, relationship in
        guard check.inverseFlaw(of: relationship, in: entity.name) != nil else { return relationship.inverse }
        isChanged = true
        return nil
      }
    }
    return result
  }
}

extension ModelDescription {
  fileprivate mutating func changeInverses(_ change: (EntityDescription, RelationshipDescription) -> String?) {
    for index in entities.indices {
      let entity = entities[index]
      for position in entity.relationships.indices {
        entities[index].relationships[position].inverse = change(entity, entity.relationships[position])
      }
    }
  }
}
