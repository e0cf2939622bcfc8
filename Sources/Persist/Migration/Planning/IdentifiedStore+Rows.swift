extension IdentifiedStore {
  /// The entity tables that exist in the store.
  private var tables: Set<String> {
    Set(tableMap.tables.map(\.table).filter { catalog.schema.table(named: $0) != nil })
  }

  func rowsByTable(_ inspector: any StoreInspector) throws -> [String: Int] {
    try tables.reduce(into: [:]) { rows, table in rows[table] = try inspector.count(.rows(table, .all)) }
  }

  /// The approximate number of rows: the sum of the greatest keys, which are quick to find.
  func keys(_ inspector: any StoreInspector) throws -> Int64 {
    try tables.reduce(1) { try $0 + inspector.greatestRow(of: $1) }
  }

  /// The number of rows; nil if counting them would take too long.
  func fewRows(_ inspector: any StoreInspector) throws -> Int? {
    guard try keys(inspector) <= MigrationLogEntry.countedRows else { return nil }
    return try rowsByTable(inspector).values.reduce(0, +)
  }
}
