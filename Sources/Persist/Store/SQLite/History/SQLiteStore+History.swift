import Foundation

extension SQLiteStore: HistorySource {
  var history: (any StoreHistory)? {
    historyPlan.withLock { $0 }.map { RecordedHistory(store: self, map: $0.map) }
  }

  /// Every store in a file has a watch; one in memory has a single life.
  var life: UInt64 { pool.watch?.life ?? StoreLife.number(identifier) }

  func readingHistory<T>(_ body: (SQLiteConnection) throws -> T) throws -> T { try pool.read(body) }
  func writingHistory<T>(_ body: (SQLiteConnection) throws -> T) throws -> T { try pool.write(body) }
  func useHistory(_ history: HistoryMap?) {
    // A reader may be about to report an earlier state.
    pool.watch?.supersede()
    historyPlan.withLock { $0 = history.map(HistoryPlan.init) }
  }

  /// Takes one statement if the store has changed since the connection last read the history, and none otherwise.
  func presentHistory(in connection: SQLiteConnection) throws -> HistoryMap? {
    let version = connection.dataVersion
    if let watch = pool.watch, connection.historyVersion != version {
      if let catalog = try watch.changedCatalog(connection) {
        // The store follows the change only after this transaction, when a connection reads the newest state.
        connection.hasReloadedSchema = true
        return HistoryMap(catalog, in: map)
      }
      connection.historyVersion = version
    }
    return historyPlan.withLock { $0?.map }
  }

  func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)? {
    guard let url else { return nil }
    return try SQLiteStoreMonitor(url, options: pool.options, report)
  }

  /// A writer of the history within a write transaction; nil if changes aren't recorded.
  func historyWriter(by origin: HistoryOrigin?, _ connection: SQLiteConnection) throws -> HistoryWriter? {
    guard let plan = historyPlan.withLock({ $0 }), plan.map.isTracking else { return nil }
    return try HistoryWriter(plan, by: origin, connection, folder: externalFolder)
  }
}

extension SQLiteConnection: HistoryConnection {
  package func forEachRow(of sql: SharedSQL, _ body: (any StatementRow) throws -> Void) throws {
    try query(SQLText(sql)) { try body($0) }
  }
  package func hasTable(named name: String) throws -> Bool { try first(.knows(table: name)) { _ in true } == true }
  package func storeSchema() throws -> StoreSchema { try StoreSchema(self) }
  package func storeMetadata() throws -> StoreMetadata { try StoreMetadata(self) }
  package func replace(_ metadata: StoreMetadata) throws { try metadata.write(to: self) }
  package func create(_ table: TableDefinition) throws { try execute(.create(table)) }
  package func create(_ index: IndexDefinition) throws { try execute(.create(index)) }

  package func lastHistoryNumbers() throws -> (change: Int64, transaction: Int64) {
    try first(.lastHistoryNumbers) { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
  }

  package func setLastNumber(_ number: Int64, ofEntity entity: Int) throws {
    try execute(.setGreatestKey(number, entity: entity, name: HistoryLayout.entityNames[entity] ?? ""))
  }

  package func kept(_ value: SQLValue) -> SQLValue { value }

  /// The triggers of each connection are temporary.
  package func keepOldValues(of map: TableMap?) throws {}

  package func recordTransaction(by author: String, in history: HistoryMap) throws {
    let writer = try HistoryWriter(HistoryPlan(history), by: HistoryOrigin(author: author), self, folder: nil)
    try writer.finishWithoutChanges()
  }
}

extension SQLiteStatement: StatementRow {
  package func keptValue(_ column: Int32) -> SQLValue { value(column) }
}
