import Foundation

extension SQLText {
  /// A query that an application wrote, over subqueries in place of its model's entities.
  ///
  /// The application's text is a subquery itself. So it can begin with common tables of its own, and can't write.
  static func written(_ query: WrittenSQL, in map: TableMap) -> SQLText {
    var sql: SQLText = ""
    for (index, table) in query.tables.enumerated() {
      let rows: SQLText = table.relationship.map { .members(of: $0, table, in: map) } ?? .objects(of: table, in: map)
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
    // The line break ends a comment at the end of the text.
    return "\(sql) SELECT * FROM (\(text)\n)"
  }

  private static func objects(of table: WrittenSQL.Table, in map: TableMap) -> SQLText {
    let entity = map[table.entity]
    var columns: SQLText = "Z_PK AS \(name: table.keyName)"
    for column in entity.columns {
      guard let name = column.writtenName(in: table.entity) else { continue }
      columns = "\(columns), \(name: column.name) AS \(name: name)"
    }
    guard table.entity.superentity != nil else { return "SELECT \(columns) FROM \(name: entity.table)" }
    let numbers = map.model.hierarchy(of: table.entity).map { map[$0].number }
    return "SELECT \(columns) FROM \(name: entity.table) WHERE Z_ENT IN (\(numbers: numbers))"
  }

  private static func members(of relationship: Property, _ table: WrittenSQL.Table, in map: TableMap) -> SQLText {
    switch map[table.entity].toMany[relationship.slot] {
    case .foreignKey(let key)?:
      let position: SQLText = key.orderColumn.map { ", \(name: $0) AS position" } ?? ""
      return """
        SELECT \(name: key.column) AS owner, Z_PK AS member\(position) FROM \(name: key.table) \
        WHERE \(name: key.column) IS NOT NULL
        """
    case .join(let end)?:
      let position: SQLText = end.orderColumn.map { ", \(name: $0) AS position" } ?? ""
      return """
        SELECT \(name: end.ownColumn) AS owner, \(name: end.memberColumn) AS member\(position) FROM \(name: end.table)
        """
    case nil: return "SELECT NULL AS owner, NULL AS member WHERE FALSE"
    }
  }
}

extension TableMap.Column {
  /// The column's name in a query that an application wrote: the property's, or the path of an element of a composite.
  ///
  /// Nil for columns that such a query doesn't see: the entity numbers of destinations, and values that may be in
  /// files.
  package func writtenName(in entity: Entity) -> String? {
    switch role {
    case .toOneEntity: return nil
    case .toOne: return property
    case .attribute(let attribute):
      guard !attribute.storesMarkedBytes else { return nil }
      let element = entity.property(named: property)?.elements.first { $0.slot == slot }
      return element.map { $0.path.joined(separator: ".") } ?? property
    }
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
