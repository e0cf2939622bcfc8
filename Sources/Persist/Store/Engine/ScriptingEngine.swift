/// An engine whose migrations can be written as scripts for another program.
package protocol ScriptingEngine: MigrationEngine {
  /// Opens a store for a migration that is recorded. The caller closes the connection.
  func connectRecording(to location: StoreLocation) throws -> any ScriptingConnection
  /// Runs SQL on a store as another program would, without functions of Persist.
  ///
  /// - Parameter expected: The store whose content it must have afterward.
  /// - Throws: ``PersistenceError/Code/migrationFailed`` if the SQL fails or has another result.
  func tryScript(_ sql: String, on location: StoreLocation, expecting expected: StoreLocation) throws
}

/// A connection whose statements can be recorded.
package protocol ScriptingConnection: MigrationConnection {
  /// Runs `body` and returns the statements that it ran in transactions, except those that only read.
  func recordingStatements(_ body: () throws -> Void) throws -> [SQLText]
  /// The conditions by which a script recognizes the rows of the tables that a migration replaces: the metadata, the
  /// record of the model, and the entities.
  func scriptContentChecks() throws -> [MigrationScriptText.Check]
  /// The conditions by which a script recognizes the store in its present state.
  func scriptChecks() throws -> [MigrationScriptText.Check]
}
