import LinkedSQLite

extension SQLiteConnection {
  /// The columns that a view reads, directly or through other views; nil if SQLite can't prepare it. `*` stands for all
  /// columns.
  func columns(readBy view: String) -> Set<StoreSchema.ColumnPlace>? {
    var columns: Set<StoreSchema.ColumnPlace> = []
    let isPrepared = authorizing { action, table, column in
      if action == SQLITE_READ, let table, let column { columns.insert(.init(column, of: table)) }
      return SQLITE_OK
    } during: {
      (try? all(.probe(view: view)) { _ in }) != nil
    }
    return isPrepared ? columns : nil
  }
}
