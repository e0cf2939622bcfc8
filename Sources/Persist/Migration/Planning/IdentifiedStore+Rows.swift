extension IdentifiedStore {
  /// The entity tables that exist in the store.
  private var tables: Set<String> {
    Set(tableMap.tables.map(\.table).filter { catalog.schema.table(named: $0) != nil })
  }

  func rowsByTable(_ connection: SQLiteConnection) throws -> [String: Int] {
    try tables.reduce(into: [:]) { rows, table in rows[table] = try connection.count(.rows(table, .all)) }
  }

  /// The approximate number of rows: the sum of the greatest keys, which are quick to find.
  func keys(_ connection: SQLiteConnection) throws -> Int64 {
    try tables.reduce(1) { try $0 + connection.greatestRow(of: $1) }
  }

  /// The number of rows; nil if counting them would take too long.
  func fewRows(_ connection: SQLiteConnection) throws -> Int? {
    guard try keys(connection) <= MigrationLogEntry.countedRows else { return nil }
    return try rowsByTable(connection).values.reduce(0, +)
  }
}
