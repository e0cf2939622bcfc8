package import Foundation

/// Answers questions about the contents of a store, from one consistent state of it.
///
/// The planning of migrations reads stores only through this protocol. Its questions are values that every engine
/// understands: counts, layouts and the text of SQL. Each call is one question; none is repeated for each row.
package protocol StoreInspector {
  /// The place of the store, for messages; nil for a store in memory.
  var url: URL? { get }

  // MARK: The model

  /// - Throws: ``PersistenceError/Code/notAStore`` for a database that isn't a store,
  ///   ``PersistenceError/Code/storeDamaged`` for unreadable metadata.
  func catalog() throws -> StoreCatalog
  /// Whether a catalog that was read earlier still matches the store.
  func isCurrent(_ catalog: StoreCatalog) throws -> Bool
  /// Finds the store's model.
  ///
  /// - Parameter known: A catalog read before, which is reused if it is still valid.
  func identify(among registry: ModelRegistry?, known: StoreCatalog?) throws -> IdentifiedStore

  /// The number of the state that the connection has read last, which every commit changes; nil if the engine doesn't
  /// number states.
  var stateNumber: Int64? { get }

  // MARK: The rows

  func count(_ count: RowCount) throws -> Int
  /// The number of rows for which a condition is true; nil if the engine can't evaluate it exactly.
  ///
  /// - Parameter map: The tables of the store.
  func count(_ count: ConditionCount, in map: TableMap) throws -> Int?
  /// The number that SQL selects; 0 if it selects nothing.
  func firstNumber(_ sql: SharedSQL) throws -> Int
  /// The greatest key in a table, which is quick to find; 0 if the table is empty.
  func greatestRow(of table: String) throws -> Int64
  /// Whether rows can be converted after a migration, while programs use the store.
  var convertsRowsLater: Bool { get }
  /// Calls `body` for each problem that a step of a check finds.
  func forEachFinding(_ step: CheckStep, _ body: (CheckStep.Finding) throws -> Void) throws
  /// The names of the files that contain a column's large values, with repetitions.
  func largeValueNames(in table: String, column: String, _ rows: RowCondition) throws -> [String]

  // MARK: Parked values

  /// The slots of parked values in the store; empty for most stores.
  func parkedSlots() throws -> [ParkedSlot]
  /// The text of the model in which parked values have a place.
  func parkedModel(_ digest: String) throws -> Data?
  /// Calls `body` for each row of what is parked in a slot, in the form that files have; see
  /// ``ParkedSlot/Kind/rowColumns``.
  func forEachParkedRow(of slot: ParkedSlot, _ types: ParkedTypes, _ body: ([SQLValue]) throws -> Void) throws

  // MARK: A second model

  /// The online migration that the store is in; nil for a store with one model.
  func servedModels() throws -> ServedModels?

  // MARK: Its condition

  /// Checks that a migration can write the store, and that the store is intact as far as a quick check can tell.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` with the names of what can't be written,
  ///   ``PersistenceError/Code/storeDamaged`` with the engine's findings.
  func requireMigratable() throws
}

extension StoreInspector {
  package var convertsRowsLater: Bool { false }
  package var stateNumber: Int64? { nil }

  package func servedModels() throws -> ServedModels? { nil }

  package func identify(among registry: ModelRegistry?) throws -> IdentifiedStore {
    try identify(among: registry, known: nil)
  }

  /// The approximate number of rows in a table: the greatest key, limited to a plausible number.
  ///
  /// Keys can be arbitrary. Within these limits, sums and products of numbers of rows don't overflow.
  package func approximateRowCount(of table: String) throws -> Int64 {
    min(max(try greatestRow(of: table), 0), 1 << 40)
  }
}

/// An open store whose tables can be read as those of a closed one.
package protocol InspectableStore: PersistentStore {
  /// Runs code that reads the store's tables, in one transaction.
  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T
}
