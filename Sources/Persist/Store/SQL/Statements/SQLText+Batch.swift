/// Statements that write many rows at once.
extension SQLText {
  /// The new value of a column in an update.
  package enum Assigned: Sendable {
    case value(SQLValue)
    case term(SQLTerm)
    /// A number as a truth value: 1, 0 or null.
    case truth(SQLTerm)

    /// The computed term; nil for a value.
    package var term: SQLTerm? {
      switch self {
      case .value: nil
      case .term(let term), .truth(let term): term
      }
    }
  }

  /// Inserts a row, or updates the row that conflicts with it. Parameters as for ``insert(into:_:)``. Returns the key
  /// and the entity number of the written row, if any.
  ///
  /// - Parameters:
  ///   - changing: The columns to update in the conflicting row; nil to leave it unchanged.
  ///   - files: Those of the changed columns whose values may be in files. They aren't updated: for a conflicting row,
  ///     the first bytes of each old value are returned, followed by the new value.
  package static func upsert(
    into table: String, _ columns: [String], changing: [String]?, files: [String] = []
  ) -> SQLText {
    guard let changing else { return "\(insert(into: table, columns)) ON CONFLICT DO NOTHING RETURNING Z_PK, Z_ENT" }
    let changes = changing.filter { !files.contains($0) }.map { column in
      ", \(name: column) = excluded.\(name: column)" as SQLText
    }.joined(separator: "")
    let values = files.compactMap { column in
      columns.firstIndex(of: column).map { index in
        """
        , CASE WHEN Z_PK <> \(parameter: 1) THEN substr(\(name: column), 1, 300) END, \
        CASE WHEN Z_PK <> \(parameter: 1) THEN \(parameter: index + 3) END
        """ as SQLText
      }
    }.joined(separator: "")
    return """
      \(insert(into: table, columns)) ON CONFLICT DO UPDATE SET \(countingUp)\(changes) \
      RETURNING Z_PK, Z_ENT\(values)
      """
  }

  package static func update(
    _ rows: RowSelection, _ assignments: [(column: String, value: Assigned)], returningKeys: Bool
  ) -> SQLText {
    let keys: SQLText = returningKeys ? " RETURNING Z_PK, Z_ENT" : ""
    return "\(assigning(assignments, in: rows.table))\(rows.conditions)\(keys)"
  }

  /// Updates the rows with keys in a JSON array, also those of a view: SQLite knows a view's alias in the new values,
  /// but not in the condition, and returns no keys of its rows.
  package static func update(
    _ table: String, _ assignments: [(column: String, value: Assigned)], where column: String, isIn keys: String
  ) -> SQLText {
    "\(assigning(assignments, in: table)) WHERE \(name: column) IN (\(list(keys)))"
  }

  private static func assigning(_ assignments: [(column: String, value: Assigned)], in table: String) -> SQLText {
    let changes = assignments.map { assignment -> SQLText in
      switch assignment.value {
      case .value(let value): ", \(name: assignment.column) = \(value: value)"
      case .term(let term): ", \(name: assignment.column) = \(self.term(term))"
      case .truth(let term): ", \(name: assignment.column) = (\(self.term(term)) <> 0)"
      }
    }.joined(separator: "")
    return "UPDATE \(name: table) AS \(row: RowSelection.root) SET \(countingUp)\(changes)"
  }

  /// A row's key and its value that is out of a range, if there is one.
  package static func outside(_ range: ClosedRange<Int64>, _ term: SQLTerm, of rows: RowSelection) -> SQLText {
    """
    SELECT Z_PK, \(self.term(term)) \(rows.clauses) \(rows.isUnconditional ? "WHERE" : "AND") \
    (\(self.term(term)) NOT BETWEEN \(number: range.lowerBound) AND \(number: range.upperBound)) LIMIT 1
    """
  }

  /// The key of a row with a value in a column for which a term is null, if there is one.
  package static func removed(_ column: String, by term: SQLTerm, of rows: RowSelection) -> SQLText {
    """
    SELECT Z_PK \(rows.clauses) \(rows.isUnconditional ? "WHERE" : "AND") \
    (\(self.term(.column(column, of: RowSelection.root))) IS NOT NULL AND (\(self.term(term))) IS NULL) LIMIT 1
    """
  }

  package static func delete(_ rows: RowSelection) -> SQLText {
    "DELETE FROM \(name: rows.table) AS \(row: RowSelection.root)\(rows.conditions)"
  }

  /// The leading bytes of columns whose values may be stored in files, for the rows with such a value.
  package static func fileNames(_ rows: RowSelection, _ columns: [String]) -> SQLText {
    let heads = columns.map { "substr(\(name: $0), 1, 300)" as SQLText }.joined(separator: ", ")
    let named = columns.map { "substr(\(name: $0), 1, 1) = x'02'" as SQLText }.joined(separator: " OR ")
    return "SELECT \(heads) \(rows.clauses) \(rows.isUnconditional ? "WHERE" : "AND") (\(named))"
  }

  private static func list(_ keys: String) -> SQLText { "SELECT value FROM json_each(\(value: .text(keys)))" }
}
