import Foundation

/// Reads the history with one connection.
struct TransactionReader<Source: HistorySource>: ~Copyable {
  private let map: HistoryMap
  private let entities: [HistoryMap.EntityColumns]
  private let store: Source
  private let connection: Source.Connection

  init(_ map: HistoryMap, of store: Source, _ connection: Source.Connection) {
    (self.map, self.store, self.connection) = (map, store, connection)
    entities = map.entities.value
  }

  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    let subject = try query.subject.map { try changedRow($0.object) }
    let sql = SQLText.transactions(
      in: map.layout, afterNumber: query.afterNumber, afterTime: query.afterDate?.timeIntervalSinceReferenceDate,
      author: query.author, of: subject, limit: query.subject?.limit ?? 0)
    try connection.forEachRow(of: sql) { row in
      func text(_ text: HistoryLayout.Text) -> String? {
        let column = Int32(2 + (HistoryLayout.Text.allCases.firstIndex(of: text) ?? 0))
        return row.isNull(column) ? nil : row.text(column)
      }
      let number = row.integer(0)
      let isOwn = row.integer(Int32(2 + HistoryLayout.Text.allCases.count)) != 0
      let changes = query.includesChanges ? try changes(of: number, only: subject, isOwn: isOwn) : nil
      var transaction = HistoryTransaction(
        transactionNumber: number, storeID: store.identifier,
        timestamp: Date(timeIntervalSinceReferenceDate: row.double(1)), author: text(.author),
        contextName: text(.contextName), bundleID: text(.bundleID), processID: text(.processID), changes: changes)
      transaction.life = store.life
      try body(transaction)
    }
  }

  private func changedRow(_ id: ManagedObjectID) throws -> SQLText.ChangedRow {
    let entity = try store.map.model.entity(named: id.entityName)
    return SQLText.ChangedRow(entity: store.map.numbers[entity], key: id.primaryKey ?? 0)
  }

  /// The changes of a transaction. Those of entities that are neither in the model nor in the store can't be named and
  /// are omitted.
  ///
  /// - Parameter subject: The only row whose changes are returned; nil for all.
  private func changes(
    of transaction: Int64, only subject: SQLText.ChangedRow?, isOwn: Bool
  ) throws -> [HistoryChange] {
    var changes: [HistoryChange] = []
    let oldValues = try map.oldValues.flatMap { map in
      isOwn && transaction > map.after
        ? try TransactionOldValues(map, of: transaction, only: subject, in: store, connection) : nil
    }
    try connection.forEachRow(of: .changes(of: transaction, in: map.layout, of: subject)) { row in
      guard let type = HistoryChangeType(rawValue: Int(clamping: row.integer(1))) else {
        throw Source.Connection.damagedHistory(store.url, "It contains a change of unknown kind \(row.integer(1)).")
      }
      let entityNumber = Int(clamping: row.integer(2))
      let index = store.map.numbers.entityIndex(ofNumber: entityNumber)
      let entity = index.map { entities[$0] }
      guard let name = entity?.entity.name ?? store.map.numbers.row(ofNumber: entityNumber)?.name else { return }
      let key = row.integer(3)
      let id = ManagedObjectID(entityName: name, storeIdentifier: store.identifier, key: .permanent(key))
      let old = type == .insert ? nil : oldValues
      var change = HistoryChange(
        changeID: row.integer(0), changeType: type, changedObjectID: id,
        updatedProperties: type == .update && !row.isNull(4)
          ? entity?.changedColumns.names(row.data(4), isOwn: isOwn) : nil,
        tombstone: type == .delete ? entity.flatMap { tombstone(of: $0, row) } : nil,
        oldValues: index.flatMap { old?.values(ofEntity: $0, number: entityNumber, key: key) },
        memberChanges: old?.memberChanges(of: id), transactionNumber: transaction)
      change.formerVersion = type == .delete ? old?.version(ofEntity: entityNumber, key: key) : nil
      changes.append(change)
    }
    return changes
  }

  private func tombstone(of entity: HistoryMap.EntityColumns, _ row: any StatementRow) -> [String: StoredValue]? {
    guard !entity.preserved.isEmpty else { return nil }
    var values: [String: StoredValue] = Dictionary()
    for (index, preserved) in entity.preserved.enumerated() where !preserved.isOfOtherModel {
      let value = row.keptValue(Int32(5 + index)).storedValue(of: preserved.attribute)
      if !value.isNull { values[preserved.name] = value }
    }
    return values
  }
}
