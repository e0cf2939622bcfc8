/// How the keys of a relationship come from the old store into the new.
enum RelationshipTransfer: Sendable, Hashable {
  /// There is nothing to take over.
  case none
  /// The old columns become the new ones.
  case columns(Columns)
  /// The old join table becomes the new one.
  case joinTable(TableMap.JoinEnd)
  /// The pairs stand in another way now and are put aside meanwhile.
  case pairs(PairSource)

  struct Columns: Sendable, Hashable {
    let table: String
    let key: String
    let number: String?
    let place: String?

    var besideKey: [String] { [number, place].compactMap { $0 } }
  }
}

extension InPlacePlanner {
  /// How a relationship of an entity of the new model comes from the old one.
  func transfer(_ relationship: RelationshipDescription, of entity: Entity) -> RelationshipTransfer {
    guard let old = oldRelationship(relationship, of: entity) else {
      return transferFromInverse(of: relationship)
    }
    guard comparison.destinationChange(from: old.relationship, to: relationship) != .parted,
      let property = old.entity.property(named: old.relationship.name)
    else { return .none }
    let place = self.old[old.entity]
    guard let pairs = self.old.pairs(of: property, in: old.entity) else { return .none }
    if property.isToOne {
      guard !relationship.isToMany else { return .pairs(pairs) }
      let number = place.columns.first { $0.property == property.name && $0.role == .toOneEntity }?.name
      return .columns(.init(table: place.table, key: pairs.member, number: number, place: pairs.inversePlace))
    }
    switch place.toMany[property.slot] {
    case .foreignKey(let key) where relationship.isToMany && new.model.inverse(of: relationship) == nil:
      return .columns(
        .init(table: key.table, key: key.column, number: key.entityColumn, place: key.orderColumn))
    case .join(let end) where RelationshipShape(relationship, in: new.model) == .manyToMany: return .joinTable(end)
    default: return .pairs(pairs)
    }
  }

  /// How the column of a reference comes from the old store.
  ///
  /// The column of a to-many relationship without inverse is one for all objects that have it; moved up, it comes from
  /// entities below. Several of them have columns of their own, which can't become one.
  func transfers(of reference: ColumnUse.Reference) -> [RelationshipTransfer] {
    guard let owner = new.model.entitiesByName[reference.entity] else { return [] }
    guard reference.relationship.isToMany else { return [transfer(reference.relationship, of: owner)] }
    return new.model.hierarchy(of: owner).reduce(into: []) { found, entity in
      guard let relationship = entity.relationship(named: reference.relationship.name) else { return }
      let transfer = transfer(relationship, of: entity)
      if transfer != .none, !found.contains(transfer) { found.append(transfer) }
    }
  }

  /// A new inverse of a relationship that there was before: the same pairs, seen from the other end.
  private func transferFromInverse(of relationship: RelationshipDescription) -> RelationshipTransfer {
    let destination = new.model.destination(of: relationship)
    guard let inverse = new.model.inverse(of: relationship), let old = oldRelationship(inverse, of: destination),
      comparison.destinationChange(from: old.relationship, to: inverse) != .parted,
      let property = old.entity.property(named: old.relationship.name),
      let pairs = self.old.pairs(of: property, in: old.entity)
    else { return .none }
    return .pairs(pairs.turned)
  }

  /// The old relationship that a new one comes from, with the old entity that has it.
  func oldRelationship(
    _ relationship: RelationshipDescription, of entity: Entity
  ) -> (entity: Entity, relationship: RelationshipDescription)? {
    guard let source = comparison.source(of: entity),
      let name = correspondence.origin(of: relationship.name, in: entity.name)?.source,
      let old = source.relationship(named: name)
    else { return nil }
    return (source, old)
  }
}
