extension IdentifiedStore {
  /// The tables of entities that the store has.
  private var tables: Set<String> {
    Set(tableMap.tables.map(\.table).filter { catalog.schema.table(named: $0) != nil })
  }

  func rowsByTable(_ connection: SQLiteConnection) throws -> [String: Int] {
    try tables.reduce(into: [:]) { rows, table in rows[table] = try connection.count(.rows(table, .all)) }
  }

  /// About how many rows there are: the greatest keys, which are found at once.
  func keys(_ connection: SQLiteConnection) throws -> Int64 {
    try tables.reduce(1) { try $0 + connection.greatestRow(of: $1) }
  }

  /// How many rows there are; nil where counting them would take time.
  func fewRows(_ connection: SQLiteConnection) throws -> Int? {
    guard try keys(connection) <= MigrationLogEntry.countedRows else { return nil }
    return try rowsByTable(connection).values.reduce(0, +)
  }
}
