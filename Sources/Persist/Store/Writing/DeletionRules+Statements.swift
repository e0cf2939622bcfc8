/// Statements about the rows at the other ends of relationships of deleted rows.
extension DeletionRules {
  /// Selects the keys and entity numbers of the rows at one end.
  ///
  /// - Parameter keys: The keys of the deleted rows.
  package func rows(at end: End, ofRowsWith keys: Set<Int64>) -> SharedSQL {
    switch end.place {
    case .foreignKey(let key): .keys(in: key.table, where: key.column, isIn: keys)
    case .join(let join):
      .keys(in: end.destinationTable, from: join.table, join.memberColumn, where: join.ownColumn, isIn: keys)
    case .own(let column): .keys(in: end.destinationTable, from: table, column, where: "Z_PK", isIn: keys)
    }
  }
}

extension DeletionRules.End {
  /// The statements that remove deleted rows from a relationship: from columns that contain their keys, and the pairs
  /// in a join table. Empty if no other row names them, or if the rule leaves the rows as they are.
  package func severing(rowsWith keys: Set<Int64>) -> [SharedSQL] {
    switch place {
    case .join(let join):
      let columns = join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn]
      return columns.map { .delete(from: join.table, where: $0, isIn: keys) }
    case .foreignKey(let key) where rule != .noAction:
      let columns = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
      return [.clear(columns, of: key.table, where: key.column, isIn: keys)]
    case .foreignKey, .own: return []
    }
  }
}

extension DoomedRows.Keys {
  /// Adds the key of a row. A row of an entity unknown to the model is ignored.
  package mutating func add(_ key: Int64, entityNumber: Int64, _ numbers: EntityNumbers) {
    guard let index = numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: entityNumber)) else { return }
    self[index, default: []].insert(key)
  }
}
