import LinkedSQLite

extension SQLiteConnectionPool {
  /// Runs work with a connection, and reports it to the instrument, if any.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func observed<T>(_ connection: SQLiteConnection, _ body: (SQLiteConnection) throws -> T) throws -> T {
    guard let instrument else { return try body(connection) }
    let executed = connection.counts.executed
    defer {
      instrument.executed(statements: connection.counts.executed - executed)
      if connection.waits.total > .zero {
        instrument.waited(for: .lock, connection.waits.total)
        connection.waits.total = .zero
      }
    }
    return try body(connection)
  }
}

extension SQLiteConnection {
  /// Adds the use of the connection's page cache.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_dbstatus_options.html>
  func addCacheUse(to statistics: inout StoreStatistics) {
    func count(_ kind: Int32) -> Int {
      var (current, highest): (Int32, Int32) = (0, 0)
      return sqlite3_db_status(handle, kind, &current, &highest, 0) == SQLITE_OK ? Int(current) : 0
    }
    statistics.cacheHits += count(SQLITE_DBSTATUS_CACHE_HIT)
    statistics.cacheMisses += count(SQLITE_DBSTATUS_CACHE_MISS)
  }
}
