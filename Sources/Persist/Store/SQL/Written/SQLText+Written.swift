import Foundation

extension SQLText {
  /// A query that an application wrote, over subqueries in place of its model's entities.
  ///
  /// The application's text is a subquery itself. So it can begin with common tables of its own, and can't write.
  package static func written(_ query: WrittenSQL, in map: TableMap) -> SQLText {
    var sql: SQLText = ""
    for (index, table) in query.tables.enumerated() {
      let rows = WrittenTable(table, in: map).map(rows) ?? "SELECT NULL AS owner, NULL AS member WHERE FALSE"
      let start: SQLText = index == 0 ? "WITH " : ", "
      sql = "\(sql)\(start)\(name: table.name) AS NOT MATERIALIZED (\(rows))"
    }
    var text: SQLText = ""
    for part in query.parts {
      switch part {
      case .text(let literal): text = "\(text)\(SQLText(stringLiteral: literal))"
      case .name(let name): text = "\(text)\(name: name)"
      case .entity, .members: text = "\(text)\(name: WrittenSQL.Table(part)?.name ?? "")"
      case .value(let value): text = "\(text)\(value: SQLValue(written: value))"
      }
    }
    // The line break ends a comment with which the text may end.
    return "\(sql) SELECT * FROM (\(text)\n)"
  }

  private static func rows(of table: WrittenTable) -> SQLText {
    var sql: SQLText = "SELECT "
    for (index, column) in table.columns.enumerated() {
      let separator: SQLText = index == 0 ? "" : ", "
      sql = "\(sql)\(separator)\(name: column.column) AS \(name: column.name)"
    }
    sql = "\(sql) FROM \(name: table.table)"
    if let entities = table.entities {
      sql = "\(sql) WHERE \(name: entities.column) IN (\(numbers: entities.numbers))"
    }
    if let required = table.requiredColumn { sql = "\(sql) WHERE \(name: required) IS NOT NULL" }
    return sql
  }
}

extension SQLValue {
  /// A value in the form in which columns of its type contain it.
  fileprivate init(written value: StoredValue) {
    switch value {
    case .integer(let value): self = .integer(value)
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .double(let value): self = .double(value)
    case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
    case .string(let value), .uri(let value): self = .text(value)
    case .uuid(let value): self = .blob(withUnsafeBytes(of: value.uuid) { Data($0) })
    case .data(let value): self = .blob(value)
    case .decimal(let value): self = DecimalColumn(value).map { SQLValue($0) } ?? .null
    case .objectID(let id): self = id.primaryKey.map { .integer($0) } ?? .null
    case .null, .composite: self = .null
    }
  }
}
