import Foundation
import Persist

extension PostgreSQLStore {
  func explain(_ query: RowQuery) throws -> StatementExplanation? {
    let plan = try plan(for: query)
    let columns = query.keysOnly ? "r0.id, r0.entity" : columnList(plan)
    return try explain(statement(columns, query).sql, plan.selection.table)
  }

  func explain(_ query: ValueQuery) throws -> StatementExplanation? {
    try valueSQL(query).map { try explain($0, plan(for: query.rows).selection.table) }
  }

  /// - SeeAlso: <https://www.postgresql.org/docs/current/using-explain.html>
  private func explain(_ sql: ServerText, _ table: String) throws -> StatementExplanation {
    let statement = sql.statement(in: pool.address.schema)
    let steps = try pool.read { session in
      try session.all("EXPLAIN (COSTS OFF) \(sql)") { $0.text($1, 0) }
    }
    let name = ServerText.name(table)
    return StatementExplanation(
      sql: statement.text, values: statement.parameters.map(\.literal), plan: steps,
      walksThroughTable: steps.contains { $0.contains("Seq Scan on \(name) ") || $0.hasSuffix("Seq Scan on \(name)") },
      sorts: steps.contains { $0.contains("Sort") })
  }
}

extension ServerParameter {
  /// The value as an SQL literal; the bytes of an array in hexadecimal digits.
  fileprivate var literal: String {
    guard let bytes else { return "NULL" }
    let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return switch type {
    case .boolean: number == 0 ? "FALSE" : "TRUE"
    case .integer, .int16, .int32: "\(Int64(bitPattern: number))"
    case .double: "\(Double(bitPattern: number))"
    case .moment:
      "TIMESTAMPTZ '2000-01-01 00:00:00+00' + \(Int64(bitPattern: number)) * INTERVAL '1 microsecond'"
    case .text: "'" + String(decoding: bytes, as: UTF8.self).doubling("'") + "'"
    case .uuid: "'" + bytes.hexadecimalDigits + "'"
    case .bytes, .integers, .doubles, .texts, .byteStrings, .booleans, .int16s, .int32s, .uuids,
      .moments:
      "'\\x" + bytes.hexadecimalDigits + "'"
    }
  }
}
