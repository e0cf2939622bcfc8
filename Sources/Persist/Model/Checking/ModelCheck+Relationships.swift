extension ModelCheck {
  /// Checks a relationship. One without an inverse is valid, as in Core Data: it is unidirectional.
  mutating func check(_ relationship: RelationshipDescription, of entity: EntityDescription) {
    let place = PersistenceError.Place.property(entity.name, relationship.name)
    checkCounts(of: relationship, at: place)
    guard isEntity(relationship.destination) else {
      report(
        place, "The relationship leads to '\(relationship.destination)', which isn't an entity of the model.",
        fix: "Add '\(relationship.destination)' or choose another destination.")
      return
    }
    guard let flaw = inverseFlaw(of: relationship, in: entity.name) else { return }
    let name = relationship.inverse ?? ""
    let full = "'\(relationship.destination).\(name)'"
    switch flaw {
    case .missing:
      report(
        place, "The inverse \(full) doesn't exist.",
        fix: "Add a relationship '\(name)' to '\(relationship.destination)', or specify the one that leads back.",
        as: .flaw)
    case .noRelationship:
      report(
        place, "The inverse \(full) isn't a relationship.", fix: "Specify the relationship that leads back.", as: .flaw)
    case .oneSided(let other, _):
      let named = other.map { "names '\($0)' as its inverse" } ?? "names no inverse"
      report(
        place, "The inverse \(full) \(named), not '\(relationship.name)'.",
        fix: "Make '\(relationship.name)' the inverse of \(full), or choose another inverse.", as: .flaw)
    case .elsewhere(let destination):
      report(
        place, "The inverse \(full) leads to '\(destination)', not back to '\(entity.name)'.",
        fix: "Make '\(entity.name)' the destination of \(full), or choose another inverse.", as: .flaw)
    }
  }

  /// The reason why two relationships don't pair although one names the other.
  enum InverseFlaw {
    case missing
    case noRelationship
    /// The named relationship has this inverse, or none, and is declared by this entity.
    case oneSided(String?, declaring: String)
    case elsewhere(String)
  }

  /// Returns the problem with a relationship's inverse; nil if it has none or if the inverse is valid.
  func inverseFlaw(of relationship: RelationshipDescription, in entity: String) -> InverseFlaw? {
    guard let name = relationship.inverse else { return nil }
    guard let found = property(name, of: relationship.destination) else { return .missing }
    guard case .relationship(let inverse) = found.kind else { return .noRelationship }
    guard inverse.inverse == relationship.name else {
      return .oneSided(inverse.inverse, declaring: found.declaring)
    }
    return isOneHierarchy(inverse.destination, entity) ? nil : .elsewhere(inverse.destination)
  }

  private mutating func checkCounts(of relationship: RelationshipDescription, at place: PersistenceError.Place) {
    let (least, most) = (relationship.minimumCount, relationship.maximumCount)
    if least < 0 || most < 0 {
      report(
        place, "The object counts \(least) to \(most) are invalid.", fix: "Use 0 for no bound.", as: .flaw)
    } else if most > 0 && least > most {
      report(
        place, "The minimum number of objects, \(least), is above the maximum, \(most).",
        fix: "Swap or correct them.", as: .flaw)
    }
  }

  /// Whether the entities are the same or one is an ancestor of the other.
  func isOneHierarchy(_ one: String, _ other: String) -> Bool {
    lineage(of: one).contains { $0.name == other } || lineage(of: other).contains { $0.name == one }
  }

  mutating func checkIndexes(of entity: EntityDescription) {
    let place = PersistenceError.Place.entity(entity.name)
    for constraint in entity.uniquenessConstraints {
      if constraint.isEmpty {
        report(place, "A uniqueness constraint has no properties.", fix: "Remove it or add its properties.", as: .flaw)
      }
      for name in constraint { checkColumn(name, of: entity, in: "A uniqueness constraint", isUnique: true) }
    }
    for (names, conditions) in entity.uniquenessConditions.sorted(on: { $0.key.joined(separator: ", ") }) {
      for condition in conditions {
        guard let problem = problem(with: condition, of: names, in: entity) else { continue }
        report(
          .property(entity.name, condition.attribute),
          "The condition '\(condition)' of the uniqueness constraint over \(names.joined(separator: ", ")) \(problem).",
          fix: "Test stored attributes of '\(entity.name)' with values of their types.", as: .flaw)
      }
    }
    for index in entity.compoundIndexes {
      for name in index { checkColumn(name, of: entity, in: "A compound index") }
    }
    var seen: Set<String> = []
    for index in entity.indexes {
      if !seen.insert(index.name).inserted {
        report(
          place, "Two indexes of '\(entity.name)' are named '\(index.name)'.", fix: "Rename one of them.", as: .flaw)
      }
      for case .property(let name) in index.elements.map(\.subject) {
        checkColumn(name, of: entity, in: "The index '\(index.name)'")
      }
    }
  }

  /// Returns the reason why a uniqueness constraint can't have a condition, as the rest of a sentence; nil if it can.
  func problem(
    with condition: UniquenessCondition, of names: [String], in entity: EntityDescription
  ) -> String? {
    guard entity.uniquenessConstraints.contains(names) else { return "belongs to no such constraint" }
    guard case .attribute(let attribute)? = property(condition.attribute, of: entity.name)?.kind else {
      return "names no attribute of '\(entity.name)'"
    }
    if attribute.isTransient || attribute.isDerived || [.undefined, .objectID, .composite].contains(attribute.type) {
      return "names an attribute without a stored value of its own"
    }
    switch condition.test {
    case .isNil, .isNotNil: return nil
    case .integer:
      return [.int16, .int32, .int64].contains(attribute.type) ? nil : "compares an attribute that isn't an integer"
    case .boolean: return attribute.type == .boolean ? nil : "compares an attribute that isn't Boolean"
    }
  }

  @inline(never)
  private mutating func checkColumn(
    _ name: String, of entity: EntityDescription, in what: String, isUnique: Bool = false
  ) {
    guard let problem = columnProblem(name, of: entity.name, isUnique: isUnique) else { return }
    report(
      .property(entity.name, name), "\(what) names '\(name)', \(problem).",
      fix: "Remove it there, or name a stored property of '\(entity.name)'.", as: .flaw)
  }

  /// Returns the reason why an index or a uniqueness constraint can't use a property, as the rest of a sentence; nil if
  /// it can.
  ///
  /// It must be a stored value: an attribute, an element of one, or a to-one relationship. An index omits what has no
  /// column; without it, a constraint would be a stricter one.
  func columnProblem(_ name: String, of entity: String, isUnique: Bool = false) -> String? {
    let path = name.dottedKeys
    let first = path.first ?? name
    switch property(first, of: entity)?.kind {
    case .attribute(let attribute): return isUnique ? uniquenessProblem(attribute, path.dropFirst()) : nil
    case .relationship(let relationship):
      if relationship.isToMany { return "a to-many relationship, which has no column" }
      guard isUnique else { return nil }
      if relationship.isTransient { return "a transient relationship, which has no column" }
      return path.count == 1 ? nil : "a property of another object"
    case .fetchedProperty: return "a fetched property, which has no column"
    case nil:
      // Core Data's names for the object and its entity number may also be indexed.
      let isIndexable = !isUnique && ["self", "entity"].contains(first.lowercased())
      return isIndexable ? nil : "which isn't a property of '\(entity)'"
    }
  }

  /// Returns the reason why a uniqueness constraint can't use an attribute, or the element at a path of names in it.
  private func uniquenessProblem(_ attribute: AttributeDescription, _ path: ArraySlice<String>) -> String? {
    if attribute.isTransient { return "a transient attribute, which has no column" }
    if [.undefined, .objectID].contains(attribute.type) { return "an attribute without a type, which has no column" }
    guard let name = path.first else { return nil }
    guard attribute.type == .composite else { return "an element of '\(attribute.name)', which isn't composite" }
    let elements = attribute.compositeName.flatMap { composites[$0] }?.elements ?? []
    guard let element = elements.first(where: { $0.name == name }) else {
      return "an element that '\(attribute.name)' doesn't have"
    }
    return uniquenessProblem(element, path.dropFirst())
  }
}
