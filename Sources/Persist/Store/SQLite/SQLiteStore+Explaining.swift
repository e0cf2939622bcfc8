import Foundation

extension SQLiteStore {
  func explain(_ query: RowQuery) throws -> StatementExplanation? {
    guard !map.absent.contains(query.entity.name) else { return nil }
    let plan = try plan(for: query)
    return try explanation(of: statement(for: query, plan).sql, over: query.entity)
  }

  func explain(_ query: ValueQuery) throws -> StatementExplanation? {
    try statement(for: query).map { try explanation(of: $0.sql, over: query.rows.entity) }
  }

  private func explanation(of sql: SQLText, over entity: Entity) throws -> StatementExplanation {
    let steps = try pool.read { connection in try connection.all(.plan(of: sql)) { $0.text(3) } }
    return StatementExplanation(
      sql: sql.text, values: sql.values.map(\.literal), plan: steps,
      walksThroughTable: steps.contains { isWalk($0, through: map[entity].table) },
      sorts: steps.contains { $0.contains("TEMP B-TREE") })
  }

  /// Whether a step scans the whole table, including a scan in the order of an index that is only used for the order.
  private func isWalk(_ step: String, through table: String) -> Bool {
    // Before SQLite 3.36, plans say `SCAN TABLE ZITEM AS r0` instead of `SCAN r0`.
    ["r0", table, "TABLE \(table)"].contains { step == "SCAN \($0)" || step.hasPrefix("SCAN \($0) ") }
  }
}

extension SQLValue {
  /// The value as an SQL literal.
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let value): "'" + value.doubling("'") + "'"
    case .blob(let value): "x'" + value.hexadecimalDigits + "'"
    }
  }
}
