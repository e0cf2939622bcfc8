import Foundation
import Persist

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
            return (key: key, values: read(statement.columns, from: result, row: row))
          }
          return (statement.keyColumn == nil ? lines : lines.sorted { $0.key < $1.key }).map(\.values)
        }
      }
    } catch let error as PersistenceError where error.isOutOfRange {
      // A sum exceeds 64 bits; in-memory evaluation continues with doubles.
      return nil
    }
  }

  private struct ValueStatement {
    let sql: ServerText
    let columns: [Column]
    /// The column of the keys to sort by, if the statement doesn't.
    let keyColumn: Int?

    /// A column of the result, with the kind of the server's values.
    typealias Column = (value: PredicateTranslation.ValueColumn, kind: ServerTerms.Kind)
  }

  /// The statement of a query; nil if the server doesn't compute exactly the result of in-memory evaluation.
  func valueSQL(_ query: ValueQuery) throws -> ServerText? { try statement(for: query)?.sql }

  /// Nil if the server doesn't compute exactly the result of in-memory evaluation.
  private func statement(for query: ValueQuery) throws -> ValueStatement? {
    let statement = try unboundedStatement(for: query)
    return statement?.sql.effort.isBounded == true ? statement : nil
  }

  private func unboundedStatement(for query: ValueQuery) throws -> ValueStatement? {
    let plan = try plan(for: query.rows)
    let (entity, root) = (query.rows.entity, SQLText.RowSelection.root)
    guard !map.absent.contains(entity.name) else { return nil }
    var translation = newTranslation(at: query.rows.now)
    let terms = newTerms(over: entity)
    var columns: [PredicateTranslation.ValueColumn] = []
    for column in query.columns {
      guard let translated = translation.column(column, over: entity, root: root) else { return nil }
      columns.append(translated)
    }
    if !query.groups.isEmpty { return try grouped(query, columns: columns, translation: &translation, plan: plan) }
    var texts: [ServerText] = []
    var results: [ValueStatement.Column] = []
    for column in columns {
      guard let value = terms.column(column.column) else { return nil }
      texts.append(value.text)
      results.append((column, value.kind))
      if let number = column.number {
        guard let number = terms.value(number) else { return nil }
        texts.append(number.text)
      }
    }
    if columns.contains(where: \.column.isAggregate) {
      var rows = query.rows
      rows.sort = []
      guard rows.limit == nil, rows.offset == 0 else { return nil }
      let sql: ServerText = "SELECT \(texts.joined(separator: ", "))\(try clauses(rows, plan))"
      return ValueStatement(sql: sql, columns: results, keyColumn: nil)
    }
    let keyColumn = texts.count
    texts.append("r0.id")
    let (sql, isSorted) = try self.statement(texts.joined(separator: ", "), query.rows)
    return ValueStatement(sql: sql, columns: results, keyColumn: isSorted ? nil : keyColumn)
  }

  /// The statement of a grouped query. It computes the values to group by in a derived table, because the server
  /// doesn't recognize a subquery that occurs twice.
  private func grouped(
    _ query: ValueQuery, columns: [PredicateTranslation.ValueColumn], translation: inout PredicateTranslation,
    plan: RowPlan
  ) throws -> ValueStatement? {
    guard query.rows.limit == nil, query.rows.offset == 0 else { return nil }
    let terms = newTerms(over: query.rows.entity)
    var inner: [ServerText] = []
    var groups: [ServerText] = []
    func group(_ value: ServerText) -> ServerText {
      let name: ServerText = "g\(number: Int64(inner.count))"
      inner.append("\(value) AS \(name)")
      groups.append(name)
      return name
    }
    var names: [FetchExpression: (value: ServerTerms.Value, number: ServerText?)] = [:]
    for expression in query.groups {
      let root = SQLText.RowSelection.root
      guard let column = translation.column(.value(expression), over: query.rows.entity, root: root),
        case .term(let term) = column.column, let value = terms.value(term)
      else { return nil }
      // The numbers 1.5 and 1.50 belong to the same group.
      let name = group(value.text)
      let shown = value.kind == .decimal ? "\(name)::text" : name
      guard let number = column.number else {
        names[expression] = ((shown, value.kind), nil)
        continue
      }
      guard let number = terms.value(number) else { return nil }
      names[expression] = ((shown, value.kind), group(number.text))
    }
    var outer: [ServerText] = []
    var results: [ValueStatement.Column] = []
    for (column, translated) in zip(query.columns, columns) {
      switch (column, translated.column) {
      case (.value(let expression), _):
        guard let name = names[expression] else { return nil }
        outer.append(name.value.text)
        results.append((translated, name.value.kind))
        if let number = name.number { outer.append(number) }
      case (.aggregate, .aggregate(.count, nil)):
        outer.append("count(*)")
        results.append((translated, .integer))
      case (.aggregate, .aggregate(let function, let term?)):
        let name = SQLTerm.column("a\(inner.count)", of: SQLRow(number: 0))
        guard let value = terms.value(term),
          let result = terms.adding(name, value.kind).column(.aggregate(function, name))
        else { return nil }
        inner.append("\(value.text) AS \(name: "a\(inner.count)")")
        outer.append(result.text)
        results.append((translated, result.kind))
      default: return nil
      }
    }
    var rows = query.rows
    rows.sort = []
    let sql: ServerText = """
      SELECT \(outer.joined(separator: ", ")) FROM (SELECT \(inner.joined(separator: ", "))\(try clauses(rows, plan))) \
      AS r0 GROUP BY \(groups.joined(separator: ", "))
      """
    return ValueStatement(sql: sql, columns: results, keyColumn: nil)
  }

  private func read(_ columns: [ValueStatement.Column], from result: any ServerResult, row: Int) -> [StoredValue] {
    var place = 0
    return columns.map { column in
      defer { place += column.value.number == nil ? 1 : 2 }
      return read(column, at: place, ofRow: row, result)
    }
  }

  private func read(
    _ column: ValueStatement.Column, at place: Int, ofRow row: Int, _ result: any ServerResult
  ) -> StoredValue {
    if result.isNull(row, place) { return .null }
    switch column.value.form {
    case .number where column.kind == .double:
      let number = result.double(row, place)
      return number.isNaN ? .null : .double(number)
    case .number where column.kind == .decimal:
      return Decimal(storedText: result.text(row, place)).map(StoredValue.decimal) ?? .null
    case .number: return .integer(result.integer(row, place))
    case .integer: return .integer(result.integer(row, place))
    case .boolean: return .boolean(result.integer(row, place) != 0)
    case .double, .date:
      let number = result.double(row, place)
      if number.isNaN { return .null }
      return column.value.form == .double ? .double(number) : .date(Date(timeIntervalSinceReferenceDate: number))
    case .string: return .string(result.text(row, place))
    case .uri: return .uri(result.text(row, place))
    case .data: return .data(result.data(row, place))
    case .decimal: return Decimal(storedText: result.text(row, place)).map(StoredValue.decimal) ?? .null
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
  fileprivate func column(_ column: SQLColumn) -> Value? {
    switch column {
    case .term(let term):
      return value(term).map { $0.kind == .decimal ? ("\($0.text)::text", .decimal) : $0 }
    case .aggregate(.count, let term):
      guard let term else { return ("count(*)", .integer) }
      return value(term).map { ("count(\($0.text))", .integer) }
    case .aggregate(.sum, let term):
      guard let value = term.flatMap(value).map(number), value.kind == .integer else { return nil }
      return ("coalesce(sum(\(value.text)), 0)::bigint", .integer)
    case .aggregate(.least, let term): return extremum("min", term)
    case .aggregate(.greatest, let term): return extremum("max", term)
    case .aggregate(.average, _): return nil
    }
  }

  private func extremum(_ function: ServerText, _ term: SQLTerm?) -> Value? {
    guard let value = term.flatMap(value).map(number), value.kind.hasExtremes, value.kind != .decimal else {
      return nil
    }
    return ("\(function)(\(value.text))", value.kind)
  }
}
