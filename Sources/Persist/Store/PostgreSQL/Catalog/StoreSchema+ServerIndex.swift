extension StoreSchema.Index {
  /// An index of a server.
  ///
  /// Its definition is in the layout's form, so that it can be compared with a model's indexes. One that the layout
  /// can't express, such as an index over an expression, with another order of nulls or of some rows, keeps the
  /// server's text.
  ///
  /// - Parameters:
  ///   - server: The definition in the server's catalog.
  ///   - complete: Returns the layout's name for a column's name on the server.
  init(_ name: String, table: String, server: String, complete: (String) -> String) {
    let own = IndexDefinition(name, table: table, server: server, complete: complete)
    self.init(name: name, table: table, sql: own.map { SQLText.create($0).text } ?? server)
  }
}

extension IndexDefinition {
  /// - SeeAlso: <https://www.postgresql.org/docs/current/functions-info.html>, `pg_get_indexdef`
  fileprivate init?(_ name: String, table: String, server: String, complete: (String) -> String) {
    guard let match = server.wholeMatch(of: /CREATE (UNIQUE )?INDEX .+ USING btree \(([^()]+)\)/) else { return nil }
    var columns: [Column] = []
    for column in match.2.split(separator: ", ") {
      guard let part = column.wholeMatch(of: /"?([a-z0-9_$]+)"?( NULLS FIRST| DESC NULLS LAST)/) else { return nil }
      columns.append(Column(name: complete(String(part.1)), isAscending: part.2 == " NULLS FIRST"))
    }
    self.init(name: name, table: table, columns: columns, isUnique: match.1 != nil)
  }
}
