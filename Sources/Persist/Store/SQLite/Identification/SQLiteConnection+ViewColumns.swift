import CSQLite

/// Collects the columns that SQLite reports while it prepares a statement.
private final class ColumnCollector {
  var columns: Set<StoreSchema.ColumnPlace> = []
}

extension SQLiteConnection {
  /// The columns that a view reads, directly or through other views; nil if SQLite can't prepare it.
  ///
  /// SQLite requests authorization for each, so that no SQL has to be parsed. `*` stands for all columns.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/set_authorizer.html>
  func columns(readBy view: String) -> Set<StoreSchema.ColumnPlace>? {
    let collector = ColumnCollector()
    // SQLite calls back on this thread while a statement of this connection is prepared, and so only in this function.
    sqlite3_set_authorizer(
      handle,
      { context, action, table, column, _, _ in
        guard let context, let table, let column, action == SQLITE_READ else { return SQLITE_OK }
        let collector = Unmanaged<ColumnCollector>.fromOpaque(context).takeUnretainedValue()
        collector.columns.insert(.init(String(cString: column), of: String(cString: table)))
        return SQLITE_OK
      }, Unmanaged.passUnretained(collector).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    return withExtendedLifetime(collector) {
      guard (try? all(.probe(view: view)) { _ in }) != nil else { return nil }
      return collector.columns
    }
  }
}
