import Foundation
import Persist

/// The changes of one row by transactions of the history.
struct RowChange {
  /// The time of the change of all properties; nil if only some were changed.
  var whole: UInt64?
  /// The times of changed properties, by name.
  var properties: [String: UInt64] = [:]
  /// The time of the transaction that inserted the row, in seconds since 2001; nil for an older row.
  var inserted: Double?
  /// Whether the row was deleted, and perhaps inserted again.
  var wasDeleted = false
  /// Whether a migration may have given the row values that no fact has.
  var wasMigrated = false
}

/// The changes of rows since a position in the history.
struct RowChanges {
  private(set) var rows: [SyncTables.RowID: RowChange] = [:]
  /// In the order of the first change.
  private(set) var order: [SyncTables.RowID] = []

  mutating func change(_ row: SyncTables.RowID, _ body: (inout RowChange) -> Void) {
    if rows[row] == nil { order.append(row) }
    body(&rows[row, default: RowChange()])
  }

  /// - Parameter time: The hybrid time of the transaction.
  mutating func add(
    _ change: HistoryChange, of transaction: HistoryTransaction, _ time: UInt64, in model: ManagedObjectModel
  ) {
    let id = change.changedObjectID
    guard let entity = model.entitiesByName[id.entityName], let key = id.primaryKey else { return }
    self.change(SyncTables.RowID(root: entity.root.name, entity: entity.name, key: key)) { row in
      switch change.changeType {
      case .insert:
        row.whole = time
        row.inserted = transaction.timestamp.timeIntervalSinceReferenceDate
      case .update:
        if let names = change.updatedProperties {
          for name in names { row.properties[name] = time }
        } else {
          row.whole = time
        }
      case .delete: row = RowChange(wasDeleted: true)
      }
    }
  }
}
