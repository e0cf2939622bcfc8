/// The tables of a store's history.
extension SharedSQL {
  /// Number, time, and the texts in the order of ``HistoryLayout/Text`` of the selected transactions, and whether
  /// Persist wrote them, in order.
  package static func transactions(
    in layout: HistoryLayout, afterNumber: Int64?, afterTime: Double?, author: String?, of row: ChangedRow? = nil,
    limit: Int = 0
  ) -> SharedSQL {
    let texts = HistoryLayout.Text.allCases.map { text($0, in: layout) }
    var sql: SharedSQL = """
      SELECT t.\(.key), t.\(.time), \(texts.joined(separator: ", ")), \
      CASE WHEN t.\(.version) IS NULL THEN 0 ELSE 1 END \
      FROM \(name: HistoryLayout.transactionTable) AS t WHERE true
      """
    if let afterNumber { sql += " AND t.\(.key) > \(value: .integer(afterNumber))" }
    if let afterTime { sql += " AND t.\(.time) > \(value: .double(afterTime))" }
    if let author { sql += " AND \(text(.author, in: layout)) = \(value: .text(author))" }
    if let row {
      sql += """
         AND t.\(.key) IN (SELECT DISTINCT \(.transactionID) FROM \(name: HistoryLayout.changeTable) \
        WHERE \(row.condition) ORDER BY \(.transactionID) DESC LIMIT \(number: Int64(limit)))
        """
    }
    return sql + " ORDER BY t.\(.key)"
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

    fileprivate var condition: SharedSQL {
      "\(.changedEntity) = \(number: Int64(entity)) AND \(.changedKey) = \(value: .integer(key))"
    }
  }

  /// A text of the transaction `t`.
  static func text(_ text: HistoryLayout.Text, in layout: HistoryLayout) -> SharedSQL {
    let columns = layout.texts[text]
    let direct: SharedSQL = "t.\(name: text.column)"
    let referred: SharedSQL = """
      (SELECT \(.historyText) FROM \(name: HistoryLayout.textTable) WHERE \(.key) = t.\(name: text.reference))
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
  package static func changes(of transaction: Int64, in layout: HistoryLayout, of row: ChangedRow? = nil) -> SharedSQL {
    let columns: SharedSQL = layout.hasChangedColumns ? "\(.changedColumns)" : "NULL"
    let condition: SharedSQL = row.map { " AND \($0.condition)" } ?? ""
    let tombstones = layout.tombstones.map { ", \(name: $0)" as SharedSQL }.joined(separator: "")
    return """
      SELECT \(.key), \(.changeType), \(.changedEntity), \(.changedKey), \(columns)\(tombstones) \
      FROM \(name: HistoryLayout.changeTable) WHERE \(.transactionID) = \(value: .integer(transaction))\(condition) \
      ORDER BY \(.key)
      """
  }
}
