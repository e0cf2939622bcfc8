import Persist

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
    guard let match = server.wholeMatch(of: /CREATE (UNIQUE )?INDEX .+? USING btree \((.+)\)/) else { return nil }
    var columns: [Column] = []
    var rest = match.2
    while let part = rest.prefixMatch(
      of: /(?:([a-z_][a-z0-9_$]*)|"((?:[^"]|"")+)")( NULLS FIRST| DESC NULLS LAST)(?:, |$)/)
    {
      let name = part.1.map { String($0) } ?? part.2.map { String($0.replacing("\"\"", with: "\"")) } ?? ""
      columns.append(Column(name: complete(name), isAscending: part.3 == " NULLS FIRST"))
      rest = rest[part.range.upperBound...]
    }
    guard rest.isEmpty else { return nil }
    self.init(name: name, table: table, columns: columns, isUnique: match.1 != nil)
  }
}
