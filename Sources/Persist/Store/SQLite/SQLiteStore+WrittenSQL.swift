extension SQLiteStore {
  func select(_ query: WrittenSQL) throws -> SelectedRows {
    do {
      return try pool.read { connection in
        try connection.withStatement(.written(query, in: map)) { statement in
          let columns = 0..<statement.columnCount
          var rows: [[SQLValue]] = []
          while try statement.step() { rows.append(columns.map { statement.value($0) }) }
          return SelectedRows(names: columns.map { statement.columnName($0) }, rows: rows)
        }
      }
    } catch let error as PersistenceError where error.code == .sqlite {
      throw WrittenSQL.failure(error.message, in: self)
    }
  }
}
