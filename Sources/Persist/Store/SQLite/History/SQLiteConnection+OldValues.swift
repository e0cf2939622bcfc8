import Foundation

/// Keeping the old values of a transaction that the caller has begun.
extension SQLiteConnection {
  /// Begins to keep old values under a transaction's number.
  ///
  /// The triggers are created by the connection's first such transaction. They are temporary, so that they exist only
  /// for this connection, and keep nothing in other transactions.
  func beginKeepingOldValues(_ map: OldValuesMap, _ number: Int64) throws {
    if try first(.knowsOldValueTriggers, { _ in true }) == nil {
      try execute(.createCurrentTransaction)
      for table in map.layout.value.tables {
        for trigger in SQLText.oldValueTriggers(of: table) { try execute(trigger) }
      }
      for relationship in map.layout.value.relationships {
        for trigger in SQLText.memberTriggers(of: relationship) { try execute(trigger) }
      }
    }
    try execute(.beginKeeping(number))
  }

  /// - Parameter isRecorded: Whether the history contains the transaction.
  func endKeepingOldValues(
    _ map: OldValuesMap, of number: Int64, isRecorded: Bool, from folder: ExternalDataFolder?
  ) throws {
    try execute(.endKeeping)
    guard isRecorded else {
      try execute(all: SharedSQL.deleteOldValues(of: number))
      return
    }
    guard !map.fileColumns.value.isEmpty else { return }
    try copyOldFiles(map, of: number, from: folder)
  }

  /// Replaces the names of files by their content, because the files are deleted after the transaction. The old value
  /// of a file that is missing is null.
  private func copyOldFiles(_ map: OldValuesMap, of number: Int64, from folder: ExternalDataFolder?) throws {
    let found = try all(.oldFileNames(ofTransaction: number)) { row in
      (entity: row.integer(0), key: row.integer(1), column: row.text(2), content: row.data(3))
    }
    for value in found where map.fileColumns.value[Int(clamping: value.entity)]?.contains(value.column) == true {
      let name = value.content.largeValueName
      let content = try folder?.dataIfPresent(named: name).map { SQLValue.blob(Data([1]) + $0) }
      try execute(
        .setOldValue(
          content ?? .null, ofTransaction: number, entity: value.entity, key: value.key,
          column: value.column))
    }
  }
}
