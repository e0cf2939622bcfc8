/// A column of a query's result: a value of each row, or an aggregate over the rows of each group.
package enum SQLColumn: Sendable, Equatable {
  case term(SQLTerm)
  case aggregate(GroupAggregate.Function, SQLTerm?)

  package var isAggregate: Bool { if case .aggregate = self { true } else { false } }
}

extension SQLText {
  /// Selects values computed from rows, which are ``RowSelection/root`` in the columns and groups.
  package static func values(_ columns: [SQLColumn], _ rows: RowSelection, groups: [SQLTerm]) -> SQLText {
    var sql: SQLText = "SELECT \(columns.map(column).joined(separator: ", ")) \(rows.clauses)"
    if !groups.isEmpty { sql += " GROUP BY \(groups.map(term).joined(separator: ", "))" }
    if groups.isEmpty, !columns.contains(where: \.isAggregate) { sql += "\(rows.sorting)\(rows.window)" }
    return sql
  }

  private static func column(_ column: SQLColumn) -> SQLText {
    switch column {
    case .term(let value): term(value)
    case .aggregate(.count, let value): value.map { "COUNT(\(term($0)))" } ?? "COUNT(*)"
    // The sum of no values is 0, as in memory.
    case .aggregate(.sum, let value): "IFNULL(SUM(\(term(value ?? .always))), 0)"
    case .aggregate(.least, let value): "MIN(\(term(value ?? .always)))"
    case .aggregate(.greatest, let value): "MAX(\(term(value ?? .always)))"
    case .aggregate(.average, let value): "AVG(\(term(value ?? .always)))"
    }
  }
}
