/// Statements that write the history of a file. Their values are parameters, in order of appearance.
extension SQLText {
  /// The greatest numbers assigned to changes and to transactions.
  package static var lastHistoryNumbers: SQLText {
    let numbers = [
      (HistoryLayout.EntityNumber.change, HistoryLayout.changeTable),
      (HistoryLayout.EntityNumber.transaction, HistoryLayout.transactionTable),
    ].map { number, table -> SQLText in
      """
      MAX(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number: Int64(number))), 0), \
      IFNULL((SELECT MAX(Z_PK) FROM \(name: table)), 0))
      """
    }
    return "SELECT \(numbers.joined(separator: ", "))"
  }

  /// Sets both counters, which are next to each other: a list of their numbers would be a table of its own for each
  /// run. Parameters: the greatest numbers assigned to changes and to transactions.
  package static let setLastHistoryNumbers: SQLText = """
    UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_ENT WHEN \(number: Int64(HistoryLayout.EntityNumber.change)) \
    THEN \(parameter: 1) ELSE \(parameter: 2) END \
    WHERE Z_ENT BETWEEN \(number: Int64(HistoryLayout.EntityNumber.change)) \
    AND \(number: Int64(HistoryLayout.EntityNumber.transaction))
    """

  /// Records changes of one kind, entity and transaction, and of the same columns. Parameters: kind, entity number,
  /// transaction, the changed columns if the layout has them, the number of the first change, and the keys.
  ///
  /// A conflict leaves earlier rows of the statement, which the end of the failed transaction removes: undoing them
  /// first would take a savepoint for each statement.
  package static func insertChanges(_ count: Int, in layout: HistoryLayout) -> SQLText {
    let (column, place): (SQLText, SQLText) = layout.hasChangedColumns ? (", ZCOLUMNS", ", \(parameter: 4)") : ("", "")
    let rows = (0..<count).map { index -> SQLText in
      """
      (\(parameter: 5) + \(number: Int64(index)), \(number: Int64(HistoryLayout.EntityNumber.change)), \
      \(parameter: 1), \(parameter: 2), \(parameter: 6 + index), \(parameter: 3)\(place))
      """
    }
    return """
      INSERT OR FAIL INTO \(name: HistoryLayout.changeTable) \
      (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID\(column)) VALUES \(rows.joined(separator: ", "))
      """
  }

  /// Records the deletion of a row that still exists, with the values of columns. Parameters: number, entity number,
  /// transaction, key.
  ///
  /// - Parameter columns: The columns of the row's table, at most as many as the history has for values.
  package static func insertDeletion(of columns: [String], in table: String, _ layout: HistoryLayout) -> SQLText {
    let values = columns.map { ", \(name: $0)" as SQLText }.joined(separator: "")
    let places = layout.tombstones.prefix(columns.count).map { ", \(name: $0)" as SQLText }.joined(separator: "")
    return """
      INSERT INTO \(name: HistoryLayout.changeTable) \
      (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID\(places)) \
      SELECT \(parameter: ()), \(number: Int64(HistoryLayout.EntityNumber.change)), \
      \(number: Int64(HistoryChangeType.delete.rawValue)), \(parameter: ()), Z_PK, \(parameter: ())\(values) \
      FROM \(name: table) WHERE Z_PK = \(parameter: ())
      """
  }

  /// Parameters: number, time, and a text or the key of one for each of the layout's texts.
  package static func insertTransaction(in layout: HistoryLayout) -> SQLText {
    let columns = layout.writtenTexts.map(\.column)
    let places = repeatElement(", \(parameter: ())" as SQLText, count: columns.count).joined(separator: "")
    return """
      INSERT INTO \(name: HistoryLayout.transactionTable) \
      (Z_PK, Z_ENT, Z_OPT, \(names: ["ZTIMESTAMP"] + columns)) \
      VALUES (\(parameter: ()), \(number: Int64(HistoryLayout.EntityNumber.transaction)), 1, \(parameter: ())\(places))
      """
  }

  /// Parameter: the text.
  package static let historyText: SQLText =
    "SELECT Z_PK FROM \(name: HistoryLayout.textTable) WHERE ZNAME = \(parameter: ())"

  package static func setTombstone(_ column: String, to value: SQLValue, of change: Int64) -> SQLText {
    """
    UPDATE \(name: HistoryLayout.changeTable) SET \(name: column) = \(value: value) \
    WHERE Z_PK = \(value: .integer(change))
    """
  }

  /// The leading bytes of a column whose value is stored in a file; no row otherwise.
  package static func fileName(in table: String, _ column: String, key: Int64) -> SQLText {
    """
    SELECT substr(\(name: column), 1, 300) FROM \(name: table) \
    WHERE Z_PK = \(value: .integer(key)) AND substr(\(name: column), 1, 1) = x'02'
    """
  }
}
