/// Statements that copy a history to another store.
extension SharedSQL {
  /// Number, counter, time and texts of all transactions.
  package static func transactionsToCopy(in layout: HistoryLayout) -> SharedSQL {
    let counter: SharedSQL = "t.\(.version)"
    let texts = HistoryLayout.Text.allCases.map { text($0, in: layout) }
    return """
      SELECT t.\(.key), \(counter), t.\(.time), \(texts.joined(separator: ", ")) \
      FROM \(name: HistoryLayout.transactionTable) AS t ORDER BY t.\(.key)
      """
  }

  /// Number, kind, entity number, key, transaction, changed columns and preserved values of all changes.
  package static func changesToCopy(in layout: HistoryLayout) -> SharedSQL {
    let columns: SharedSQL = layout.hasChangedColumns ? "\(.changedColumns)" : "NULL"
    let tombstones = layout.tombstones.map { ", \(name: $0)" as SharedSQL }.joined(separator: "")
    return """
      SELECT \(.key), \(.changeType), \(.changedEntity), \(.changedKey), \(.transactionID), \(columns)\(tombstones) \
      FROM \(name: HistoryLayout.changeTable) ORDER BY \(.key)
      """
  }

  /// Transaction, entity number, key, column and value of some old values, in order.
  ///
  /// - Parameter last: The first four values of the row that precedes the first one; empty for none.
  package static func oldValuesToCopy(after last: [SQLValue], limit: Int) -> SharedSQL {
    rows(
      of: OldValuesLayout.valueTable, key: ["TRANSACTIONID", "ENTITY", "ROWKEY", "COLUMNNAME"], ["VALUE"], after: last,
      limit: limit)
  }

  /// Transaction, relationship, both keys, both entity numbers and the change of some members, in order.
  ///
  /// - Parameter last: The first four values of the row that precedes the first one; empty for none.
  package static func membersToCopy(after last: [SQLValue], limit: Int) -> SharedSQL {
    rows(
      of: OldValuesLayout.memberTable, key: ["TRANSACTIONID", "RELATIONSHIP", "OWNER", "MEMBER"],
      ["OWNERENTITY", "MEMBERENTITY", "CHANGE"], after: last, limit: limit)
  }

  private static func rows(
    of table: String, key: [String], _ others: [String], after last: [SQLValue], limit: Int
  ) -> SharedSQL {
    let condition: SharedSQL = last.isEmpty ? "" : " WHERE (\(names: key)) > (\(values: last))"
    return """
      SELECT \(names: key + others) FROM \(name: table)\(condition) ORDER BY \(names: key) \
      LIMIT \(number: Int64(limit))
      """
  }

  package static func insert(_ rows: [[SQLValue]], into table: String, _ columns: [String]) -> SharedSQL {
    let values = rows.map { row in
      "(\(row.map { "\(value: $0)" as SharedSQL }.joined(separator: ", ")))" as SharedSQL
    }
    return """
      INSERT INTO \(name: table) (\(columns.map { "\(name: $0)" as SharedSQL }.joined(separator: ", "))) \
      VALUES \(values.joined(separator: ", "))
      """
  }
}
