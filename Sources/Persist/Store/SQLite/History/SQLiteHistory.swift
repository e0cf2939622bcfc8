import Foundation

extension SQLiteStore {
  var history: (any StoreHistory)? {
    historyPlan.withLock { $0 }.map { SQLiteHistory(store: self, plan: $0) }
  }
}

/// The history in an SQLite store.
struct SQLiteHistory: StoreHistory {
  let store: SQLiteStore
  let plan: HistoryPlan

  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    try store.pool.read { connection in
      let reader = TransactionReader(plan, of: store, connection)
      try reader.forEachTransaction(query, body)
    }
  }

  var isTracking: Bool { plan.isTracking }

  func disable(keepingPast: Bool) throws {
    let plan = try store.pool.write { try $0.disableHistory(keepingPast: keepingPast, in: store.map) }
    store.historyPlan.withLock { $0 = plan }
  }

  static func damaged(_ url: URL?, _ what: String) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: .store(url), "The history of the store is damaged. \(what)",
      fix: "Delete the history with disableHistory, or restore the store from a backup.")
  }
}

/// Reads the history with one connection.
struct TransactionReader {
  private let plan: HistoryPlan
  private let entities: [HistoryPlan.EntityPlan]
  private let store: SQLiteStore
  private let connection: SQLiteConnection

  init(_ plan: HistoryPlan, of store: SQLiteStore, _ connection: SQLiteConnection) {
    (self.plan, self.store, self.connection) = (plan, store, connection)
    entities = plan.entities.value
  }

  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    let sql = SQLText.transactions(
      in: plan.layout, afterNumber: query.afterNumber, afterTime: query.afterDate?.timeIntervalSinceReferenceDate,
      author: query.author)
    try connection.query(sql) { row in
      func text(_ text: HistoryLayout.Text) -> String? {
        let column = Int32(2 + (HistoryLayout.Text.allCases.firstIndex(of: text) ?? 0))
        return row.isNull(column) ? nil : row.text(column)
      }
      let number = row.integer(0)
      let isOwn = row.integer(Int32(2 + HistoryLayout.Text.allCases.count)) != 0
      let changes = query.includesChanges ? try changes(of: number, isOwn: isOwn) : nil
      try body(
        HistoryTransaction(
          transactionNumber: number, storeID: store.identifier,
          timestamp: Date(timeIntervalSinceReferenceDate: row.double(1)), author: text(.author),
          contextName: text(.contextName), bundleID: text(.bundleID), processID: text(.processID), changes: changes))
    }
  }

  /// The changes of a transaction. Those of entities that neither the model nor the store knows can't be named and are
  /// omitted.
  private func changes(of transaction: Int64, isOwn: Bool) throws -> [HistoryChange] {
    let statement = try connection.statement(plan.changes)
    defer { statement.reset() }
    statement.bind(transaction, at: 1)
    var changes: [HistoryChange] = []
    let oldValues = try plan.oldValues.flatMap { plan in
      isOwn && transaction > plan.after ? try TransactionOldValues(plan, of: transaction, store, connection) : nil
    }
    while try statement.step() {
      guard let type = HistoryChangeType(rawValue: Int(clamping: statement.integer(1))) else {
        throw SQLiteHistory.damaged(store.url, "It contains a change of unknown kind \(statement.integer(1)).")
      }
      let entityNumber = Int(clamping: statement.integer(2))
      let index = store.map.numbers.entityIndex(ofNumber: entityNumber)
      let entity = index.map { entities[$0] }
      guard let name = entity?.entity.name ?? store.map.numbers.rows[entityNumber]?.name else { continue }
      let key = statement.integer(3)
      let id = ManagedObjectID(entityName: name, storeIdentifier: store.identifier, key: .permanent(key))
      let old = type == .insert ? nil : oldValues
      var change = HistoryChange(
        changeID: statement.integer(0), changeType: type, changedObjectID: id,
        updatedProperties: type == .update && !statement.isNull(4)
          ? entity?.changedColumns.names(statement.data(4), isOwn: isOwn) : nil,
        tombstone: type == .delete ? entity.flatMap { tombstone(of: $0, statement) } : nil,
        oldValues: index.flatMap { old?.values(ofEntity: $0, number: entityNumber, key: key) },
        memberChanges: old?.memberChanges(of: id), transactionNumber: transaction)
      change.formerVersion = type == .delete ? old?.version(ofEntity: entityNumber, key: key) : nil
      changes.append(change)
    }
    return changes
  }

  private func tombstone(of entity: HistoryPlan.EntityPlan, _ row: SQLiteStatement) -> [String: StoredValue]? {
    guard !entity.preserved.isEmpty else { return nil }
    var values: [String: StoredValue] = [:]
    for (index, preserved) in entity.preserved.enumerated() {
      let value = row.value(Int32(5 + index)).storedValue(of: preserved.attribute)
      if !value.isNull { values[preserved.name] = value }
    }
    return values
  }
}
