extension ModelComparison {
  /// A relationship of the old model together with its inverse, named by the end that sorts first.
  struct OldPair: Sendable, Hashable, Comparable {
    /// The entity that declares the end.
    let entity: String
    let relationship: String

    static func < (left: OldPair, right: OldPair) -> Bool {
      (left.entity, left.relationship) < (right.entity, right.relationship)
    }
  }

  /// The end from which a relationship's objects are read in the old store. The other end follows from it.
  enum LeadingEnd: Sendable { case own, inverse }

  /// The end of a new relationship that determines the related objects; nil if neither end existed before.
  ///
  /// Usually both ends come from the two ends of one old relationship. If they come from different ones, because two
  /// relationships without inverse were joined or inverses were swapped, one end decides: the one whose old
  /// relationships include the other's; otherwise the to-one end, whose values are stored; otherwise the first by name.
  func leadingEnd(of relationship: RelationshipDescription, in entity: Entity) -> LeadingEnd? {
    let own = oldPairs(of: relationship, in: entity)
    guard let inverse = new.inverse(of: relationship) else { return own.isEmpty ? nil : .own }
    let destination = new.destination(of: relationship)
    let other = oldPairs(of: inverse, in: destination)
    if own.isEmpty { return other.isEmpty ? nil : .inverse }
    if other.isSubset(of: own) { return .own }
    if own.isSubset(of: other) { return .inverse }
    if relationship.isToMany != inverse.isToMany { return relationship.isToMany ? .inverse : .own }
    let end = (declaring(relationship, of: entity).name, relationship.name)
    return end <= (declaring(inverse, of: destination).name, inverse.name) ? .own : .inverse
  }

  /// Whether the two ends of a relationship come from different old relationships, so that their contents may conflict.
  func endsDisagree(_ relationship: RelationshipDescription, in entity: Entity) -> Bool {
    guard let inverse = new.inverse(of: relationship) else { return false }
    let own = oldPairs(of: relationship, in: entity)
    let other = oldPairs(of: inverse, in: new.destination(of: relationship))
    return !own.isSubset(of: other) && !other.isSubset(of: own)
  }

  /// The old relationship from which a new entity's relationship comes, with the old entity that has it.
  @inline(never)
  func oldRelationship(
    _ relationship: RelationshipDescription, of entity: Entity
  ) -> (entity: Entity, relationship: RelationshipDescription)? {
    guard !relationship.isTransient, let source = source(of: entity),
      let name = correspondence.origin(of: relationship.name, in: entity.name)?.source,
      let old = source.relationship(named: name), !old.isTransient
    else { return nil }
    return (source, old)
  }

  /// The pair to which an old entity's relationship belongs, and whether the pair is named for this relationship.
  func oldPair(of relationship: RelationshipDescription, in entity: Entity) -> (pair: OldPair, isNamed: Bool) {
    let own = OldPair(entity: declaring(relationship, of: entity).name, relationship: relationship.name)
    guard let inverse = old.inverse(of: relationship) else { return (own, true) }
    let destination = old.destination(of: relationship)
    let other = OldPair(entity: declaring(inverse, of: destination).name, relationship: inverse.name)
    return (min(own, other), own <= other)
  }

  /// The old relationships from which a new one takes its objects, including those of its entity's subentities.
  private func oldPairs(of relationship: RelationshipDescription, in entity: Entity) -> Set<OldPair> {
    Set(
      new.hierarchy(of: declaring(relationship, of: entity)).compactMap { heir in
        guard let (source, before) = oldRelationship(relationship, of: heir),
          destinationChange(from: before, to: relationship) != .parted
        else { return nil }
        return oldPair(of: before, in: source).pair
      })
  }

  /// The entity that declares a relationship of an entity of either model.
  func declaring(_ relationship: RelationshipDescription, of entity: Entity) -> Entity {
    var declaring = entity
    let name = entity.property(named: relationship.name)?.declaringEntity
    while declaring.name != name, let parent = declaring.superentity { declaring = parent }
    return declaring
  }
}
