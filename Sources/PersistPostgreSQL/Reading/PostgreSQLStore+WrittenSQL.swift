import Foundation
import Persist

/// Queries that applications wrote.
extension PostgreSQLStore {
  func select(_ query: WrittenSQL) throws -> SelectedRows {
    try pool.readTransaction { session in
      let result: any ServerResult
      do {
        result = try session.query(.written(query, in: map))
      } catch let failure as ServerFailure where ["22", "42"].contains(failure.state.prefix(2)) {
        // Data exceptions, syntax errors and unknown names are those of the application's text.
        throw WrittenSQL.failure(failure.message, inStoreAt: url)
      }
      var (names, rows): ([String], [[StoredValue]]) = ([], [])
      for line in 0..<result.rowCount {
        if result.integer(line, 1) == 1 { rows.append([]) }
        if rows.count == 1 { names.append(result.text(line, 2)) }
        rows[rows.count - 1].append(StoredValue(result.text(line, 4), ofJSONType: result.text(line, 3)))
      }
      return SelectedRows(names: names, rows: rows)
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
    let tables = ServerText(.commonTables(of: query, in: map))
    var text: ServerText = ""
    for part in query.parts {
      switch part {
      case .text(let literal): text += ServerText(stringLiteral: literal)
      case .name(let name): text += "\(name: name)"
      case .entity, .members: text += "\(name: WrittenSQL.Table(part)?.name ?? "")"
      case .value(let value): text += written(value)
      }
    }
    // The line break ends a comment at the end of the text.
    return """
      \(tables) SELECT r.number, c.number, c.key, json_typeof(c.value), c.value #>> '{}' \
      FROM (SELECT row_number() OVER () AS number, row_to_json(q) AS line FROM (\(text)
      ) AS q) AS r, json_each(r.line) WITH ORDINALITY AS c (key, value, number) ORDER BY 1, 2
      """
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
