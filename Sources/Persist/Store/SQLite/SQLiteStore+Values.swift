import LinkedSQLite
import Foundation

extension SQLiteStore {
  func values(_ query: ValueQuery, monitor: ReadMonitor?) throws -> [[StoredValue]]? {
    guard let (sql, columns, keyColumn) = try statement(for: query) else { return nil }
    do {
      return try pool.readOnce { connection in
        try connection.watched(by: monitor) {
          guard let keyColumn else { return try connection.all(sql) { read(columns, $0) } }
          let lines = try connection.all(sql) { (key: $0.integer(keyColumn), values: read(columns, $0)) }
          return lines.sorted(on: \.key).map(\.values)
        }
      }
    } catch let error as PersistenceError where error.engineMessage?.contains("integer overflow") == true {
      // SQLite's sum of integers fails if it exceeds 64 bits; in-memory evaluation continues with doubles.
      return nil
    }
  }

  /// The statement for a value query, with its columns, and the column of the keys to sort by, if any; nil if SQL
  /// doesn't compute exactly the result of in-memory evaluation.
  func statement(
    for query: ValueQuery
  ) throws -> (sql: SQLText, columns: [PredicateTranslation.ValueColumn], keyColumn: Int32?)? {
    let plan = try plan(for: query.rows)
    let (entity, root) = (query.rows.entity, SQLText.RowSelection.root)
    var translation = newTranslation(at: query.rows.now)
    let columns = query.columns.compactMap { translation.column($0, over: entity, root: root) }
    let groups = query.groups.compactMap { group -> SQLTerm? in
      guard case .term(let term)? = translation.column(.value(group), over: entity, root: root)?.column else {
        return nil
      }
      return term
    }
    guard columns.count == query.columns.count, groups.count == query.groups.count else { return nil }
    guard !map.absent.contains(entity.name) else { return nil }
    let selection = try selection(query.rows, plan)
    var sqlColumns = columns.flatMap(\.sqlColumns)
    var keyColumn: Int32?
    if !selection.isSorted, groups.isEmpty, !sqlColumns.contains(where: \.isAggregate) {
      keyColumn = Int32(sqlColumns.count)
      sqlColumns.append(.term(.column("Z_PK", of: root)))
    }
    return (SQLText.values(sqlColumns, selection, groups: groups), columns, keyColumn)
  }

  func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?] {
    guard !map.absent.contains(entity.name), let column = map[entity].column(slot: slot) else { return Dictionary() }
    let attribute = entity.properties.lazy.compactMap { property in
      property.slot == slot ? property.attribute : property.elements.first { $0.slot == slot }?.attribute
    }.first
    let isExternal = attribute.map { SlotForm($0) == .externalData } ?? false
    let sql = SQLText.lengths(of: column.name, in: map[entity].table, keys: keys, isExternal: isExternal)
    return try pool.readOnce { connection in
      let lengths = try connection.all(sql) { row in
        (row.integer(0), row.isNull(1) ? nil : Int(clamping: row.integer(1)))
      }
      return Dictionary(lengths, uniquingKeysWith: { first, _ in first })
    }
  }

  private func read(_ columns: [PredicateTranslation.ValueColumn], _ row: SQLiteStatement) -> [StoredValue] {
    var values: [StoredValue] = []
    values.reserveCapacity(columns.count)
    var place: Int32 = 0
    for column in columns {
      values.append(read(column.form, from: row, at: place))
      place += column.number == nil ? 1 : 2
    }
    return values
  }

  private func read(
    _ form: PredicateTranslation.ValueColumn.Form, from row: SQLiteStatement, at place: Int32
  ) -> StoredValue {
    if row.isNull(place) { return .null }
    switch form {
    case .integer: return .integer(row.integer(place))
    case .boolean: return .boolean(row.integer(place) != 0)
    case .double: return .double(row.double(place))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: row.double(place)))
    case .string: return .string(row.text(place))
    case .uri: return .uri(row.text(place))
    case .data: return .data(row.data(place))
    case .number:
      if case .integer(let value) = row.value(place) { return .integer(value) }
      return .double(row.double(place))
    case .decimal: return row.value(place).decimalValue.map(StoredValue.decimal) ?? .null
    case .uuid:
      if case .text(let text) = row.value(place) { return UUID(uuidString: text).map(StoredValue.uuid) ?? .null }
      let data = row.data(place)
      guard data.count == 16 else { return .null }
      return .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .key(let entity, let hasNumber):
      let key = row.integer(place)
      guard key != 0 else { return .null }
      var own = entity
      if hasNumber, let table = map.table(ofNumber: Int(truncatingIfNeeded: row.integer(place + 1))) {
        own = table.entity
      }
      return .objectID(
        ManagedObjectID(entityName: own.name, storeIdentifier: identifier, key: .permanent(key)))
    }
  }
}

extension PredicateTranslation.ValueColumn {
  fileprivate var sqlColumns: [SQLColumn] { [column] + (number.map { [.term($0)] } ?? []) }
}

/// Queries that applications wrote.
extension SQLiteStore {
  func select(_ query: WrittenSQL) throws -> SelectedRows {
    do {
      return try pool.read { connection in
        try connection.withStatement(.written(query, in: map)) { statement in
          let columns = 0..<statement.columnCount
          var rows: [[StoredValue]] = []
          while try statement.step() { rows.append(columns.map { StoredValue(statement.value($0)) }) }
          return SelectedRows(names: columns.map { statement.columnName($0) }, rows: rows)
        }
      }
    } catch let error as PersistenceError where error.code == .sqlite {
      throw WrittenSQL.failure(error.message, inStoreAt: url)
    }
  }
}

extension StoredValue {
  fileprivate init(_ value: SQLValue) {
    switch value {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .text(let value): self = .string(value)
    case .blob(let value): self = .data(value)
    }
  }
}
