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
    let sql = SharedSQL.transactions(
      in: map.layout, afterNumber: query.afterNumber, afterTime: query.afterDate?.timeIntervalSinceReferenceDate,
      author: query.author, of: subject, limit: query.subject?.limit ?? 0)
    try connection.forEachRow(of: sql) { row in
      func text(_ text: HistoryLayout.Text) -> String? {
        let column = Int32(2 + (HistoryLayout.Text.allCases.firstIndex(of: text) ?? 0))
        return row.isNull(column) ? nil : row.text(column)
      }
      let number = row.integer(0)
      let isOwn = row.integer(Int32(2 + HistoryLayout.Text.allCases.count)) != 0
      let changes =
        query.includesChanges
        ? try changes(of: number, only: subject, isOwn: isOwn, includesOldValues: query.includesOldValues) : nil
      var transaction = HistoryTransaction(
        transactionNumber: number, storeID: store.identifier,
        timestamp: Date(timeIntervalSinceReferenceDate: row.double(1)), author: text(.author),
        contextName: text(.contextName), bundleID: text(.bundleID), processID: text(.processID), changes: changes)
      transaction.life = store.life
      try body(transaction)
    }
  }

  private func changedRow(_ id: ManagedObjectID) throws -> SharedSQL.ChangedRow {
    let entity = try store.map.model.entity(named: id.entityName)
    return SharedSQL.ChangedRow(entity: store.map.numbers[entity], key: id.primaryKey ?? 0)
  }

  /// The changes of a transaction. Those of entities that are neither in the model nor in the store can't be named and
  /// are omitted.
  ///
  /// - Parameter subject: The only row whose changes are returned; nil for all.
  private func changes(
    of transaction: Int64, only subject: SharedSQL.ChangedRow?, isOwn: Bool, includesOldValues: Bool
  ) throws -> [HistoryChange] {
    var changes: [HistoryChange] = []
    var last = LastChange()
    let oldValues = try map.oldValues.flatMap { map in
      includesOldValues && isOwn && transaction > map.after
        ? try TransactionOldValues(map, of: transaction, only: subject, in: store, connection) : nil
    }
    try connection.forEachRow(of: .changes(of: transaction, in: map.layout, of: subject)) { row in
      guard let type = HistoryChangeType(rawValue: Int(clamping: row.integer(1))) else {
        throw Source.Connection.damagedHistory(store.url, "It contains a change of unknown kind \(row.integer(1)).")
      }
      let entityNumber = Int(clamping: row.integer(2))
      if last.entityNumber != entityNumber {
        let index = store.map.numbers.entityIndex(ofNumber: entityNumber)
        let name = index.map { entities[$0].entity.name } ?? store.map.numbers.row(ofNumber: entityNumber)?.name
        last = LastChange(entityNumber: entityNumber, index: index, name: name)
      }
      guard let name = last.name else { return }
      let (index, key) = (last.index, row.integer(3))
      let id = ManagedObjectID(entityName: name, storeIdentifier: store.identifier, key: .permanent(key))
      let old = type == .insert ? nil : oldValues
      var change = HistoryChange(
        changeID: row.integer(0), changeType: type, changedObjectID: id,
        updatedProperties: type == .update && !row.isNull(4) ? names(of: row.data(4), isOwn: isOwn, after: &last) : nil,
        tombstone: type == .delete ? index.flatMap { tombstone(of: entities[$0], row) } : nil,
        oldValues: index.flatMap { old?.values(ofEntity: $0, number: entityNumber, key: key) },
        memberChanges: old?.memberChanges(of: id), transactionNumber: transaction)
      change.formerVersion = type == .delete ? old?.version(ofEntity: entityNumber, key: key) : nil
      changes.append(change)
    }
    return changes
  }

  /// The facts about a change that the next one mostly shares.
  private struct LastChange {
    var entityNumber: Int?
    var index: Int?
    var name: String?
    var bits: Data?
    var names: Set<String>?
  }

  /// The names of changed properties of the last change's entity.
  private func names(of bits: Data, isOwn: Bool, after last: inout LastChange) -> Set<String>? {
    if last.bits != bits {
      last.bits = bits
      last.names = last.index.flatMap { entities[$0].changedColumns.names(bits, isOwn: isOwn) }
    }
    return last.names
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
