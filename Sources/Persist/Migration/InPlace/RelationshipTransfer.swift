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
    guard let old = oldRelationship(relationship, of: entity),
      comparison.destinationChange(from: old.relationship, to: relationship) != .parted,
      let property = old.entity.property(named: old.relationship.name)
    else { return .none }
    let place = self.old[old.entity]
    if !old.relationship.isToMany {
      guard let key = place.columns.first(where: { $0.slot == property.slot && $0.role == .toOne }) else {
        return .none
      }
      let number = place.columns.first { $0.property == property.name && $0.role == .toOneEntity }?.name
      let order = place.orderColumns[property.slot]
      if relationship.isToMany {
        return .pairs(
          PairSource(table: place.table, owner: "Z_PK", member: key.name, place: nil, inversePlace: order))
      }
      return .columns(.init(table: place.table, key: key.name, number: number, place: order))
    }
    switch place.toMany[property.slot] {
    case nil: return .none
    case .foreignKey(let foreignKey):
      if relationship.isToMany, new.model.inverse(of: relationship) == nil {
        return .columns(
          .init(
            table: foreignKey.table, key: foreignKey.column, number: foreignKey.entityColumn,
            place: foreignKey.orderColumn))
      }
      return .pairs(
        PairSource(
          table: foreignKey.table, owner: foreignKey.column, member: "Z_PK", place: foreignKey.orderColumn,
          inversePlace: nil))
    case .join(let end):
      if RelationshipShape(relationship, in: new.model) == .manyToMany { return .joinTable(end) }
      return .pairs(
        PairSource(
          table: end.table, owner: end.ownColumn, member: end.memberColumn, place: end.orderColumn,
          inversePlace: end.inverseOrderColumn))
    }
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
