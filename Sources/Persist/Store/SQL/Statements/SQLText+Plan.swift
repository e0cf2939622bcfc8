extension SQLText {
  /// Returns SQLite's plan for a query, with the same values; the text of a step is the fourth column.
  static func plan(of sql: SQLText) -> SQLText { "EXPLAIN QUERY PLAN \(sql)" }
}
