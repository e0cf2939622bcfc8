import Foundation
import Persist

/// Queries that applications wrote.
extension PostgreSQLStore {
  func select(_ query: WrittenSQL) throws -> SelectedRows {
    do {
      return try pool.readTransaction { session in
        let result = try session.query(.written(query, in: map))
        var (names, rows): ([String], [[StoredValue]]) = ([], [])
        for line in 0..<result.rowCount {
          if result.integer(line, 1) == 1 { rows.append([]) }
          if rows.count == 1 { names.append(result.text(line, 2)) }
          rows[rows.count - 1].append(StoredValue(result.text(line, 4), ofJSONType: result.text(line, 3)))
        }
        return SelectedRows(names: names, rows: rows)
      }
    } catch let error as PersistenceError where error.code == .serverFailed {
      throw WrittenSQL.failure(error.message, inStoreAt: url)
    }
  }
}

extension StoredValue {
  /// - Parameters:
  ///   - text: The value's text.
  ///   - type: The name of its type in JSON.
  fileprivate init(_ text: String, ofJSONType type: String) {
    switch type {
    case "null": self = .null
    case "boolean": self = .integer(text == "true" ? 1 : 0)
    case "number": self = Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) } ?? .string(text)
    default: self = .string(text)
    }
  }
}

extension ServerText {
  /// A query that an application wrote, over common tables in place of its model's entities.
  ///
  /// The columns of its rows may have any type. JSON has a text for each of them, and the order of the columns.
  fileprivate static func written(_ query: WrittenSQL, in map: TableMap) -> ServerText {
    var sql: ServerText = ""
    for (index, table) in query.tables.enumerated() {
      let rows: ServerText = table.relationship.map { .members(of: $0, table, in: map) } ?? .objects(of: table, in: map)
      let start: ServerText = index == 0 ? "WITH " : ", "
      sql = "\(sql)\(start)\(name: table.name) AS NOT MATERIALIZED (\(rows))"
    }
    var text: ServerText = ""
    for part in query.parts {
      switch part {
      case .text(let literal): text = "\(text)\(ServerText(stringLiteral: literal))"
      case .name(let name): text = "\(text)\(name: name)"
      case .entity, .members: text = "\(text)\(name: WrittenSQL.Table(part)?.name ?? "")"
      case .value(let value): text = "\(text)\(.written(value))"
      }
    }
    // The line break ends a comment at the end of the text.
    return """
      \(sql) SELECT r.number, c.number, c.key, json_typeof(c.value), c.value #>> '{}' \
      FROM (SELECT row_number() OVER () AS number, row_to_json(q) AS line FROM (\(text)
      ) AS q) AS r, json_each(r.line) WITH ORDINALITY AS c (key, value, number) ORDER BY 1, 2
      """
  }

  private static func objects(of table: WrittenSQL.Table, in map: TableMap) -> ServerText {
    let entity = map[table.entity]
    var columns: ServerText = "id AS \(name: table.keyName)"
    for column in entity.columns {
      guard let name = column.writtenName(in: table.entity) else { continue }
      columns = "\(columns), \(name: column.name) AS \(name: name)"
    }
    guard table.entity.superentity != nil else { return "SELECT \(columns) FROM \(table: entity.table)" }
    let numbers = map.model.hierarchy(of: table.entity).map { map[$0].number }
    return "SELECT \(columns) FROM \(table: entity.table) WHERE entity IN (\(numbers: numbers))"
  }

  private static func members(of relationship: Property, _ table: WrittenSQL.Table, in map: TableMap) -> ServerText {
    switch map[table.entity].toMany[relationship.slot] {
    case .foreignKey(let key)?:
      let position: ServerText = key.orderColumn.map { ", \(name: $0) AS position" } ?? ""
      return """
        SELECT \(name: key.column) AS owner, id AS member\(position) FROM \(table: key.table) \
        WHERE \(name: key.column) IS NOT NULL
        """
    case .join(let end)?:
      let position: ServerText = end.orderColumn.map { ", \(name: $0) AS position" } ?? ""
      return """
        SELECT \(name: end.ownColumn) AS owner, \(name: end.memberColumn) AS member\(position) \
        FROM \(table: end.table)
        """
    case nil: return "SELECT NULL AS owner, NULL AS member WHERE FALSE"
    }
  }

  /// A bound value in the type of the columns that contain such values.
  private static func written(_ value: StoredValue) -> ServerText {
    switch value {
    case .integer(let value): "\(integer: value)"
    case .boolean(let value): value ? "TRUE" : "FALSE"
    case .double(let value): "\(double: value)"
    case .date(let value): "\(double: value.timeIntervalSinceReferenceDate)"
    case .string(let value), .uri(let value): "\(text: value)"
    case .uuid(let value): "\(text: value.uuidString)::uuid"
    case .data(let value): "\(data: value)"
    case .decimal(let value): "\(text: value.description)::numeric"
    case .objectID(let id): id.primaryKey.map { "\(integer: $0)" } ?? "NULL"
    case .null, .composite: "NULL"
    }
  }
}
