extension SQLiteConnection {
  /// SQLite's number of the schema, which is another one once anybody has changed it.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_schema_version>
  var schemaVersion: Int64 { get throws { try first(.schemaVersion) { $0.integer(0) } ?? 0 } }

  /// Gives the schema another number though nothing of it changes, so that every other connection looks at the
  /// database anew; the caller holds the transaction.
  ///
  /// Setting the number itself is refused where the system's SQLite is in defensive mode.
  func changeSchemaVersion() throws {
    try execute(.createMarker)
    try execute(.dropMarker)
  }
}
