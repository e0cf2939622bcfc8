/// Statements that copy a history to another store.
extension SQLText {
  /// Number, counter, time and texts of all transactions.
  package static func transactionsToCopy(in layout: HistoryLayout) -> SQLText {
    let counter: SQLText = "t.Z_OPT"
    let texts = HistoryLayout.Text.allCases.map { text($0, in: layout) }
    return """
      SELECT t.Z_PK, \(counter), t.ZTIMESTAMP, \(texts.joined(separator: ", ")) \
      FROM \(name: HistoryLayout.transactionTable) AS t ORDER BY t.Z_PK
      """
  }

  /// Number, kind, entity number, key, transaction, changed columns and preserved values of all changes.
  package static func changesToCopy(in layout: HistoryLayout) -> SQLText {
    let columns: SQLText = layout.hasChangedColumns ? "ZCOLUMNS" : "NULL"
    let tombstones = layout.tombstones.map { ", \(name: $0)" as SQLText }.joined(separator: "")
    return """
      SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, \(columns)\(tombstones) \
      FROM \(name: HistoryLayout.changeTable) ORDER BY Z_PK
      """
  }

  /// Transaction, entity number, key, column and value of some old values, in order.
  ///
  /// - Parameter last: The first four values of the row that precedes the first one; empty for none.
  package static func oldValuesToCopy(after last: [SQLValue], limit: Int) -> SQLText {
    rows(
      of: OldValuesLayout.valueTable, key: ["TRANSACTIONID", "ENTITY", "ROWKEY", "COLUMNNAME"], ["VALUE"], after: last,
      limit: limit)
  }

  /// Transaction, relationship, both keys, both entity numbers and the change of some members, in order.
  ///
  /// - Parameter last: The first four values of the row that precedes the first one; empty for none.
  package static func membersToCopy(after last: [SQLValue], limit: Int) -> SQLText {
    rows(
      of: OldValuesLayout.memberTable, key: ["TRANSACTIONID", "RELATIONSHIP", "OWNER", "MEMBER"],
      ["OWNERENTITY", "MEMBERENTITY", "CHANGE"], after: last, limit: limit)
  }

  private static func rows(
    of table: String, key: [String], _ others: [String], after last: [SQLValue], limit: Int
  ) -> SQLText {
    let condition: SQLText = last.isEmpty ? "" : " WHERE (\(names: key)) > (\(values: last))"
    return """
      SELECT \(names: key + others) FROM \(name: table)\(condition) ORDER BY \(names: key) \
      LIMIT \(number: Int64(limit))
      """
  }

  package static func insert(_ rows: [[SQLValue]], into table: String, _ columns: [String]) -> SQLText {
    let values = rows.map { row in
      "(\(row.map { "\(value: $0)" as SQLText }.joined(separator: ", ")))" as SQLText
    }
    return """
      INSERT INTO \(name: table) (\(columns.map { "\(name: $0)" as SQLText }.joined(separator: ", "))) \
      VALUES \(values.joined(separator: ", "))
      """
  }
}
