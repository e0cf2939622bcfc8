/// The transfer of a relationship's key columns from the old store to the new.
enum RelationshipTransfer: Sendable, Hashable {
  /// There is nothing to take over.
  case none
  /// The old columns become the new ones.
  case columns(Columns)
  /// The pairs are stored in another way now, or in several places, and are put aside meanwhile.
  case pairs([PairOrigin])

  struct Columns: Sendable, Hashable {
    let origin: PairOrigin
    let table: String
    let key: String
    let number: String?
    let place: String?

    var besideKey: [String] { [number, place].compactMap { $0 } }
  }
}

extension InPlacePlanner {
  /// How the column of a reference gets the values of one entity's rows, or those of all rows of a to-many relationship
  /// without inverse, whose column is one for all objects that have it.
  func transfer(of reference: ColumnUse.Reference) -> RelationshipTransfer {
    guard let owner = new.model.entitiesByName[reference.entity] else { return .none }
    let relationship = reference.relationship
    let found = relationship.isToMany ? origins[relationship, ofAll: owner] : origins[relationship, of: owner]
    guard let only = found.first else { return .none }
    guard found.count == 1 else { return .pairs(found) }
    switch only.place {
    case .toOne(let number) where !relationship.isToMany && origins.takesOverColumn(only, relationship, of: owner):
      return .columns(
        .init(
          origin: only, table: only.pairs.table, key: only.pairs.member, number: number,
          place: only.pairs.inversePlace))
    case .foreignKey(let key) where relationship.isToMany && origins.takesOver(only, relationship, of: owner):
      return .columns(
        .init(origin: only, table: key.table, key: key.column, number: key.entityColumn, place: key.orderColumn))
    default: return .pairs(found)
    }
  }
}
