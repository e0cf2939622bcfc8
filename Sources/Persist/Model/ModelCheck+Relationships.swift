extension ModelCheck {
  /// A relationship without an inverse is legal, as in Core Data: it goes one way only.
  mutating func check(_ relationship: RelationshipDescription, of entity: EntityDescription) {
    let place = PersistError.Place.property(entity.name, relationship.name)
    checkCounts(of: relationship, at: place)
    guard entities[relationship.destination] != nil else {
      report(
        place, "The relationship leads to '\(relationship.destination)', which is no entity of the model.",
        fix: "Add '\(relationship.destination)' or choose another destination.")
      return
    }
    guard let name = relationship.inverse else { return }
    let full = "'\(relationship.destination).\(name)'"
    guard let found = property(name, of: relationship.destination) else {
      report(
        place, "The inverse \(full) doesn't exist.",
        fix: "Add a relationship '\(name)' to '\(relationship.destination)', or name the one that leads back.")
      return
    }
    guard case .relationship(let inverse) = found.kind else {
      report(place, "The inverse \(full) is no relationship.", fix: "Name the relationship that leads back.")
      return
    }
    guard inverse.inverse == relationship.name else {
      let named = inverse.inverse.map { "names '\($0)' as its inverse" } ?? "names no inverse"
      report(
        place, "The inverse \(full) \(named), not '\(relationship.name)'.",
        fix: "Make '\(relationship.name)' the inverse of \(full), or choose another inverse.")
      return
    }
    guard isOneHierarchy(inverse.destination, entity.name) else {
      report(
        place, "The inverse \(full) leads to '\(inverse.destination)', not back to '\(entity.name)'.",
        fix: "Make '\(entity.name)' the destination of \(full), or choose another inverse.")
      return
    }
  }

  private mutating func checkCounts(of relationship: RelationshipDescription, at place: PersistError.Place) {
    let (least, most) = (relationship.minimumCount, relationship.maximumCount)
    if least < 0 || most < 0 {
      report(
        place, "The counts \(least) to \(most) are no numbers of objects.", fix: "Use 0 for no bound.")
    } else if most > 0 && least > most {
      report(
        place, "The least number of objects, \(least), is above the greatest, \(most).", fix: "Exchange or mend them.")
    }
  }

  /// Whether one entity is the other or stands above or below it.
  private func isOneHierarchy(_ one: String, _ other: String) -> Bool {
    lineage(of: one).contains { $0.name == other } || lineage(of: other).contains { $0.name == one }
  }

  mutating func checkIndexes(of entity: EntityDescription) {
    let place = PersistError.Place.entity(entity.name)
    for constraint in entity.uniquenessConstraints {
      if constraint.isEmpty {
        report(place, "A uniqueness constraint names no property.", fix: "Remove it or name its properties.")
      }
      for name in constraint { checkColumn(name, of: entity, in: "A uniqueness constraint") }
    }
    for index in entity.compoundIndexes {
      for name in index { checkColumn(name, of: entity, in: "A compound index") }
    }
    var seen: Set<String> = []
    for index in entity.indexes {
      if !seen.insert(index.name).inserted {
        report(place, "Two indexes of '\(entity.name)' are named '\(index.name)'.", fix: "Rename one of them.")
      }
      for case .property(let name) in index.elements.map(\.subject) {
        checkColumn(name, of: entity, in: "The index '\(index.name)'")
      }
    }
  }

  /// What an index or a constraint names must be a stored value: an attribute, its element, or a to-one relationship.
  private mutating func checkColumn(_ name: String, of entity: EntityDescription, in what: String) {
    let first = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? name
    // Core Data's own names for the object and its entity number may be indexed too.
    if ["self", "entity"].contains(first.lowercased()) && property(first, of: entity.name) == nil { return }
    let place = PersistError.Place.property(entity.name, name)
    switch property(first, of: entity.name)?.kind {
    case .attribute: break
    case .relationship(let relationship) where !relationship.isToMany: break
    case .relationship:
      report(place, "\(what) names '\(name)', a to-many relationship, which has no column.", fix: "Remove it there.")
    case .fetchedProperty:
      report(place, "\(what) names '\(name)', a fetched property, which has no column.", fix: "Remove it there.")
    case nil:
      report(
        place, "\(what) names '\(name)', which is no property of '\(entity.name)'.",
        fix: "Name a property of '\(entity.name)' or one that it inherits.")
    }
  }
}
