extension SharedSQL {
  /// The common tables of a query that an application wrote, in place of its model's entities.
  ///
  /// The statement continues with the query itself.
  package static func commonTables(of query: WrittenSQL, in map: TableMap) -> SharedSQL {
    let tables = query.tables.map { table -> SharedSQL in
      let rows = WrittenTable(table, in: map).map(rows) ?? "SELECT NULL AS owner, NULL AS member WHERE FALSE"
      return "\(name: table.name) AS NOT MATERIALIZED (\(rows))"
    }
    return tables.isEmpty ? "" : "WITH \(tables.joined(separator: ", "))"
  }

  private static func rows(of table: WrittenTable) -> SharedSQL {
    let columns = table.columns.map { column -> SharedSQL in
      "\(name: column.column) AS \(name: column.name)"
    }
    var sql: SharedSQL = "SELECT \(columns.joined(separator: ", ")) FROM \(.store).\(name: table.table)"
    if let entities = table.entities {
      sql += " WHERE \(name: entities.column) IN (\(numbers: entities.numbers))"
    }
    if let required = table.requiredColumn { sql += " WHERE \(name: required) IS NOT NULL" }
    return sql
  }
}
