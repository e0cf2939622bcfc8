package import Foundation

/// The connection through which a migration changes a store.
///
/// Statements are values of `Store/SQL`; the engine runs them. Each call is a whole statement or change.
package protocol MigrationConnection: StoreInspector {
  /// Disables the store's automatic actions for this connection, and makes its commits outlast a power failure. Called
  /// before any transaction.
  func prepareForMigration() throws
  /// Runs `body` in a write transaction, or in a nested one if one is already open. Everything is rolled back if `body`
  /// throws.
  @discardableResult func transaction<T>(_ body: () throws -> T) throws -> T

  /// Acquires the locks for changes that result in a layout, before any of them is performed; the caller holds the
  /// transaction.
  func lockTables(for changes: [SchemaChange], to map: TableMap) throws
  /// Performs one change; the caller holds the transaction.
  func apply(_ change: SchemaChange) throws
  /// Runs SQL to completion.
  ///
  /// - Returns: The number of rows that an insert, update or delete changed.
  @discardableResult func execute(_ sql: SharedSQL) throws -> Int
  /// Runs `body`, periodically asking whether to continue within long statements.
  ///
  /// - Parameters:
  ///   - expected: The approximate number of rows that the first statement processes.
  ///   - indexes: The number of indexes with as many entries that the following statements create.
  ///   - shouldContinue: Called with the approximate number of rows done, plus that of the entries of the indexes; nil
  ///     to run without asking.
  /// - Throws: ``PersistenceError/Code/interrupted`` if the answer was no.
  func reportingProgress<T>(
    rows expected: Int64, indexes: Int, _ shouldContinue: ((Int64) -> Bool)?, _ body: () throws -> T
  ) throws -> T

  /// Begins conversions of rows; the caller holds the transaction and changes nothing else afterward.
  func begin(_ conversions: [RowConversion]) throws

  // MARK: Indexes and triggers

  /// The full-text indexes that the store has, including their triggers, exactly as Persist would create them.
  func intactFullTextIndexes(among indexes: Set<FullTextIndex>) throws -> Set<FullTextIndex>
  /// Creates the full-text indexes of a model, fills new ones, and removes those that are no longer needed.
  ///
  /// - Parameter trusted: The indexes with correct contents, provided that their definitions are intact.
  func updateFullTextIndexes(_ wanted: Set<FullTextIndex>, trusting trusted: Set<FullTextIndex>) throws
  /// Creates the triggers that maintain derived attributes, and computes the values of existing rows.
  ///
  /// - Parameter changed: The folded names of tables that changed while no trigger fired. Values that depend on them
  ///   are computed even if triggers of other programs maintain them.
  func updateDerivedTriggers(
    _ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]], after changed: Set<String>) throws

  // MARK: The model

  /// Reads the catalog after changes to the schema.
  ///
  /// - Parameter schema: The schema before, whose tables need not be read again if their definitions are the same.
  func catalog(knowing schema: StoreSchema) throws -> StoreCatalog
  /// A number that changes with the store's schema.
  var schemaVersion: Int64 { get throws }
  /// Changes ``schemaVersion`` without changing the schema, so that other programs that have the store open examine it
  /// again.
  func changeSchemaVersion() throws
  /// Records another model of the store.
  ///
  /// - Parameter coreDataHashes: Core Data's hash of each entity of the model, if known.
  func record(_ metadata: StoreMetadata, model: ManagedObjectModel, coreDataHashes: [String: Data]?) throws
  /// Records another model with the same storage; the hashes that Core Data reads remain.
  func stamp(_ metadata: StoreMetadata, model: ManagedObjectModel) throws
  /// Lets the store's history, if changes are recorded, follow a migration: adds a transaction that records it, and
  /// adapts the meaning of earlier entries.
  func recordMigrationInHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws

  /// Called at the end of the transaction of a migration, with the layout of the store's new model.
  ///
  /// The engine can record that the store has the layout that the rules predict, so that opening it reads less.
  ///
  /// - Parameters:
  ///   - catalog: The catalog, read before the last step, the change of ``schemaVersion`` at most.
  ///   - planned: The layout that the migration was planned to result in.
  func recordLayout(_ map: TableMap, _ catalog: StoreCatalog, planned: TableMap) throws

  /// Runs a statement about parked values.
  ///
  /// - Returns: The number of rows that it changed.
  @discardableResult func execute(_ statement: ParkedValueStatement) throws -> Int

  /// Replaces parked names of files by the content of the files, because the migration deletes files that no row names.
  func readParkedFiles(of slot: ParkedSlot) throws

  func close()
}

extension MigrationConnection {
  package func readParkedFiles(of slot: ParkedSlot) throws {}

  /// None is planned for such an engine.
  package func begin(_ conversions: [RowConversion]) throws {}

  package func recordLayout(_ map: TableMap, _ catalog: StoreCatalog, planned: TableMap) throws {}

  package func catalog(knowing schema: StoreSchema) throws -> StoreCatalog { try catalog() }
}

extension MigrationConnection where Self: HistoryConnection {
  package func recordMigrationInHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws {
    try adaptHistory(from: former, to: map, renames: renames)
  }
}

extension MigrationConnection {
  /// The transaction itself has all locks.
  package func lockTables(for changes: [SchemaChange], to map: TableMap) throws {}
}
