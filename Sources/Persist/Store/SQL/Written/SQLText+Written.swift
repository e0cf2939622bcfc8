import Foundation

extension SQLText {
  /// A query that an application wrote, over subqueries in place of its model's entities.
  ///
  /// The application's text is a subquery itself. So it can begin with common tables of its own, and can't write.
  package static func written(_ query: WrittenSQL, in map: TableMap) -> SQLText {
    var text: SQLText = ""
    for part in query.parts {
      switch part {
      case .text(let literal): text += SQLText(stringLiteral: literal)
      case .name(let name): text += "\(name: name)"
      case .entity, .members: text += "\(name: WrittenSQL.Table(part)?.name ?? "")"
      case .value(let value): text += "\(value: SQLValue(written: value))"
      }
    }
    // The line break ends a comment with which the text may end.
    return "\(SharedSQL.commonTables(of: query, in: map)) SELECT * FROM (\(text)\n)"
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
    case .uuid(let value): self = .blob(value.data)
    case .data(let value): self = .blob(value)
    case .decimal(let value): self = DecimalColumn(value).map { SQLValue($0) } ?? .null
    case .objectID(let id): self = id.primaryKey.map { .integer($0) } ?? .null
    case .null, .composite: self = .null
    }
  }
}
