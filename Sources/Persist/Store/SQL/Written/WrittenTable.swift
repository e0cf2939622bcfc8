/// The rows of a store that a table of an application's query stands for.
package struct WrittenTable: Sendable {
  /// The table in the store.
  package let table: String
  /// The columns in the store, with their names in the query.
  package let columns: [(column: String, name: String)]
  /// The column of the entity numbers and the numbers of the rows; nil for all rows.
  package let entities: (column: String, numbers: [Int])?
  /// A column without which a row doesn't belong to the table; nil for all rows.
  package let requiredColumn: String?

  /// Nil for a relationship without a place in the store.
  package init?(_ written: WrittenSQL.Table, in map: TableMap) {
    let isOnServer = map.names == .snakeCase
    let key = isOnServer ? "id" : "Z_PK"
    guard let relationship = written.relationship else {
      let entity = map[written.entity]
      table = entity.table
      columns = [(key, written.keyName)] + entity.columns.compactMap { column in
        column.writtenName(in: written.entity).map { (column.name, $0) }
      }
      entities = written.entity.superentity.map { _ in
        (isOnServer ? "entity" : "Z_ENT", map.model.hierarchy(of: written.entity).map { map[$0].number })
      }
      requiredColumn = nil
      return
    }
    entities = nil
    let position: String?
    switch map[written.entity].toMany[relationship.slot] {
    case .foreignKey(let foreign)?:
      (table, requiredColumn, position) = (foreign.table, foreign.column, foreign.orderColumn)
      columns = [(foreign.column, "owner"), (key, "member")] + (position.map { [($0, "position")] } ?? [])
    case .join(let end)?:
      (table, requiredColumn, position) = (end.table, nil, end.orderColumn)
      columns = [(end.ownColumn, "owner"), (end.memberColumn, "member")] + (position.map { [($0, "position")] } ?? [])
    case nil: return nil
    }
  }
}

extension TableMap.Column {
  /// The column's name in a query that an application wrote: the property's, or the path of an element of a composite.
  ///
  /// Nil for columns that such a query doesn't see: the entity numbers of destinations, and values that may be in
  /// files.
  fileprivate func writtenName(in entity: Entity) -> String? {
    switch role {
    case .toOneEntity: return nil
    case .toOne: return property
    case .attribute(let attribute):
      guard !attribute.storesMarkedBytes else { return nil }
      let element = entity.property(named: property)?.elements.first { $0.slot == slot }
      return element.map { $0.path.joined(separator: ".") } ?? property
    }
  }
}
