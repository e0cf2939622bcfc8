/// The transfer of a relationship's key columns from the old store to the new.
indirect enum RelationshipTransfer: Sendable, Equatable {
  /// Nothing is transferred.
  case none
  /// The old columns become the new ones.
  case columns(Columns)
  /// The pairs are stored differently now, or in several places, and are set aside in between.
  case pairs([PairOrigin])

  struct Columns: Sendable, Equatable {
    let origin: PairOrigin
    let table: String
    let key: String
    let number: String?
    let place: String?

    var besideKey: [String] { [number, place].compactMap { $0 } }
  }
}

extension InPlacePlanner {
  /// The transfer for a reference's column, for one entity's rows; for a to-many relationship without inverse, whose
  /// column all its owners share, for all rows.
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
