/// The tables of a store's history.
extension SQLText {
  /// Number, time, and the texts in the order of ``HistoryLayout/Text`` of the selected transactions, and whether
  /// Persist wrote them, in order.
  package static func transactions(
    in layout: HistoryLayout, afterNumber: Int64?, afterTime: Double?, author: String?, of row: ChangedRow? = nil,
    limit: Int = 0
  ) -> SQLText {
    let texts = HistoryLayout.Text.allCases.map { text($0, in: layout) }
    var sql: SQLText = """
      SELECT t.Z_PK, t.ZTIMESTAMP, \(texts.joined(separator: ", ")), CASE WHEN t.Z_OPT IS NULL THEN 0 ELSE 1 END \
      FROM \(name: HistoryLayout.transactionTable) AS t WHERE true
      """
    if let afterNumber { sql += " AND t.Z_PK > \(value: .integer(afterNumber))" }
    if let afterTime { sql += " AND t.ZTIMESTAMP > \(value: .double(afterTime))" }
    if let author { sql += " AND \(text(.author, in: layout)) = \(value: .text(author))" }
    if let row {
      sql += """
         AND t.Z_PK IN (SELECT DISTINCT ZTRANSACTIONID FROM \(name: HistoryLayout.changeTable) \
        WHERE \(row.condition) ORDER BY ZTRANSACTIONID DESC LIMIT \(number: Int64(limit)))
        """
    }
    return sql + " ORDER BY t.Z_PK"
  }

  /// A row whose changes are selected.
  package struct ChangedRow: Sendable, Equatable {
    /// The number of its entity in the store.
    package let entity: Int
    package let key: Int64

    package init(entity: Int, key: Int64) {
      self.entity = entity
      self.key = key
    }

    fileprivate var condition: SQLText {
      "ZENTITY = \(number: Int64(entity)) AND ZENTITYPK = \(value: .integer(key))"
    }
  }

  /// A text of the transaction `t`.
  static func text(_ text: HistoryLayout.Text, in layout: HistoryLayout) -> SQLText {
    let columns = layout.texts[text]
    let direct: SQLText = "t.\(name: text.column)"
    let referred: SQLText = """
      (SELECT ZNAME FROM \(name: HistoryLayout.textTable) WHERE Z_PK = t.\(name: text.reference))
      """
    switch (columns?.hasText == true, columns?.hasReference == true) {
    case (true, true): return "COALESCE(\(direct), \(referred))"
    case (true, false): return direct
    case (false, true): return referred
    case (false, false): return "NULL"
    }
  }

  /// Number, kind, entity number, key, changed columns and preserved values of the changes of a transaction, in order.
  ///
  /// - Parameter row: The only row whose changes are selected; nil for all.
  package static func changes(of transaction: Int64, in layout: HistoryLayout, of row: ChangedRow? = nil) -> SQLText {
    let columns: SQLText = layout.hasChangedColumns ? "ZCOLUMNS" : "NULL"
    let condition: SQLText = row.map { " AND \($0.condition)" } ?? ""
    let tombstones = layout.tombstones.map { ", \(name: $0)" as SQLText }.joined(separator: "")
    return """
      SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, \(columns)\(tombstones) \
      FROM \(name: HistoryLayout.changeTable) WHERE ZTRANSACTIONID = \(value: .integer(transaction))\(condition) \
      ORDER BY Z_PK
      """
  }
}
