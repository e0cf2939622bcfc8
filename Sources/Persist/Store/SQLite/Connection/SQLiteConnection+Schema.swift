extension SQLiteConnection {
  /// SQLite's schema version, which changes with every change to the schema.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_schema_version>
  var schemaVersion: Int64 { get throws { try first(.schemaVersion) { $0.integer(0) } ?? 0 } }

  /// Changes the schema version without changing the schema, so that all other connections examine the database again;
  /// the caller holds the transaction.
  ///
  /// Setting the version directly is rejected if the system's SQLite is in defensive mode.
  func changeSchemaVersion() throws {
    try execute(.createMarker)
    try execute(.dropMarker)
  }
}
