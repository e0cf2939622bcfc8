import Foundation

/// Values computed by the server.
extension PostgreSQLStore {
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? {
    guard let statement = try statement(for: query) else { return nil }
    do {
      return try pool.read { session in
        try session.watched(by: monitor) {
          let result = try session.query(statement.sql)
          let lines = (0..<result.rowCount).map { row in
            let key = statement.keyColumn.map { result.integer(row, $0) } ?? 0
            return (key: key, values: read(statement.columns, result, row))
          }
          return (statement.keyColumn == nil ? lines : lines.sorted { $0.key < $1.key }).map(\.values)
        }
      }
    } catch let error as PersistenceError where error.engineMessage?.hasSuffix("(22003)") == true {
      // A sum exceeds 64 bits; in-memory evaluation continues with doubles.
      return nil
    }
  }

  private struct ValueStatement {
    let sql: ServerText
    let columns: [PredicateTranslation.ValueColumn]
    /// The column of the keys to sort by, if the statement doesn't.
    let keyColumn: Int?
  }

  /// Nil if the server doesn't compute exactly the result of in-memory evaluation.
  private func statement(for query: ValueQuery) throws -> ValueStatement? {
    let plan = try plan(for: query.rows)
    let (entity, root) = (query.rows.entity, SQLText.RowSelection.root)
    var translation = newTranslation(at: query.rows.now)
    let terms = newTerms(over: entity)
    var columns: [PredicateTranslation.ValueColumn] = []
    var texts: [ServerText] = []
    for column in query.columns {
      guard let translated = translation.column(column, over: entity, root: root),
        let text = terms.column(translated.column)
      else { return nil }
      columns.append(translated)
      texts.append(text)
      if let number = translated.number {
        guard let number = terms.value(number) else { return nil }
        texts.append(number.text)
      }
    }
    var groups: [ServerText] = []
    for group in query.groups {
      guard case .term(let term)? = translation.column(.value(group), over: entity, root: root)?.column,
        let value = terms.value(term)
      else { return nil }
      groups.append(value.text)
    }
    guard !map.absent.contains(entity.name) else { return nil }
    if !query.groups.isEmpty {
      // The entity number of a key that the rows are grouped by.
      groups += columns.compactMap(\.number).compactMap { terms.value($0)?.text }
    }
    let hasAggregates = columns.contains { $0.column.isAggregate }
    guard groups.isEmpty, !hasAggregates else {
      var rows = query.rows
      rows.sort = []
      guard rows.limit == nil, rows.offset == 0 else { return nil }
      let grouping: ServerText = groups.isEmpty ? "" : " GROUP BY \(groups.joined(separator: ", "))"
      let sql: ServerText = "SELECT \(texts.joined(separator: ", "))\(try clauses(rows, plan))\(grouping)"
      return ValueStatement(sql: sql, columns: columns, keyColumn: nil)
    }
    let keyColumn = texts.count
    texts.append("r0.z_pk")
    let (sql, isSorted) = try self.statement(texts.joined(separator: ", "), query.rows)
    return ValueStatement(sql: sql, columns: columns, keyColumn: isSorted ? nil : keyColumn)
  }

  private func read(
    _ columns: [PredicateTranslation.ValueColumn], _ result: any ServerResult, _ row: Int
  ) -> [StoredValue] {
    var place = 0
    return columns.map { column in
      defer { place += column.number == nil ? 1 : 2 }
      return read(column, result, row, place)
    }
  }

  private func read(
    _ column: PredicateTranslation.ValueColumn, _ result: any ServerResult, _ row: Int, _ place: Int
  ) -> StoredValue {
    if result.isNull(row, place) { return .null }
    switch column.form {
    case .integer: return .integer(result.integer(row, place))
    case .boolean: return .boolean(result.integer(row, place) != 0)
    case .double: return .double(result.double(row, place))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: result.double(row, place)))
    case .string: return .string(result.text(row, place))
    case .uri: return .uri(result.text(row, place))
    case .data: return .data(result.data(row, place))
    // Terms of integers only; others are computed in memory.
    case .number: return .integer(result.integer(row, place))
    case .decimal: return Decimal(string: result.text(row, place)).map(StoredValue.decimal) ?? .null
    case .uuid:
      let data = result.data(row, place)
      guard data.count == 16 else { return .null }
      return .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .key(let entity, let hasNumber):
      let key = result.integer(row, place)
      guard key != 0 else { return .null }
      var own = entity
      if hasNumber, let table = map.table(ofNumber: Int(truncatingIfNeeded: result.integer(row, place + 1))) {
        own = table.entity
      }
      return .objectID(ManagedObjectID(entityName: own.name, storeIdentifier: identifier, key: .permanent(key)))
    }
  }
}

extension ServerTerms {
  /// A column of a result; nil if the server's value differs from the evaluator's.
  ///
  /// Sums and averages of doubles depend on the order of the rows, which the server chooses.
  fileprivate func column(_ column: SQLColumn) -> ServerText? {
    switch column {
    case .term(let term):
      return value(term).map { $0.kind == .decimal ? "\($0.text)::text" : $0.text }
    case .aggregate(.count, let term):
      guard let term else { return "count(*)" }
      return value(term).map { "count(\($0.text))" }
    case .aggregate(.sum, let term):
      guard let value = term.flatMap(value), value.kind == .integer else { return nil }
      return "coalesce(sum(\(value.text)), 0)::bigint"
    case .aggregate(.least, let term): return extremum("min", term)
    case .aggregate(.greatest, let term): return extremum("max", term)
    case .aggregate(.average, _): return nil
    }
  }

  private func extremum(_ function: ServerText, _ term: SQLTerm?) -> ServerText? {
    guard let value = term.flatMap(value), value.kind != .bytes, value.kind != .decimal else { return nil }
    return "\(function)(\(value.text))"
  }
}
