extension TableMap {
  /// The storage of a relationship's pairs, from its entity's perspective; nil if the store doesn't have it.
  func pairs(of property: Property, in entity: Entity) -> PairSource? {
    let place = self[entity]
    if property.isToOne {
      guard let key = place.columns.first(where: { $0.slot == property.slot && $0.role == .toOne }) else { return nil }
      return PairSource(
        table: place.table, owner: "Z_PK", member: key.name, place: nil,
        inversePlace: place.orderColumns[property.slot])
    }
    switch place.toMany[property.slot] {
    case nil: return nil
    case .foreignKey(let key):
      return PairSource(
        table: key.table, owner: key.column, member: "Z_PK", place: key.orderColumn, inversePlace: nil)
    case .join(let end):
      return PairSource(
        table: end.table, owner: end.ownColumn, member: end.memberColumn, place: end.orderColumn,
        inversePlace: end.inverseOrderColumn)
    }
  }
}
