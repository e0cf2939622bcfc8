extension SQLText {
  /// A constant as an SQL literal, for places where SQLite accepts no parameter.
  static func constant(_ value: SQLValue) -> SQLText {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number: number)"
    // Infinity has no literal; a number beyond the range of doubles is equivalent.
    case .double(let number) where number.isInfinite: number < 0 ? "-9e999" : "9e999"
    case .double(let number): "\(real: number)"
    case .text(let text): "\(literal: text)"
    case .blob(let data): "\(bytes: data)"
    }
  }

  /// Creates a table, in the same form as in Core Data's own stores.
  package static func create(
    _ table: TableDefinition, named name: String? = nil, kept: [StoreSchema.Column] = []
  ) -> SQLText {
    let key = table.primaryKey.count == 1 ? table.primaryKey.first : nil
    var parts = table.columns.map { column -> SQLText in
      column.name == key ? "\(name: column.name) INTEGER PRIMARY KEY" : "\(name: column.name) \(column.type.sql)"
    }
    parts += kept.map(declaration)
    if key == nil, !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(names: table.primaryKey))") }
    return "CREATE TABLE \(name: name ?? table.name) ( \(parts.joined(separator: ", ")) )"
  }

  /// A column as another table declares it. A quoted type is still a type: SQLite derives the affinity from its
  /// letters.
  static func declaration(_ column: StoreSchema.Column) -> SQLText {
    column.declaredType.isEmpty ? "\(name: column.name)" : "\(name: column.name) \(name: column.declaredType)"
  }

  package static func create(_ index: IndexDefinition) -> SQLText {
    let columns = index.columns.map { column -> SQLText in
      switch column.isAscending {
      case nil: "\(name: column.name)"
      case true?: "\(name: column.name) COLLATE BINARY ASC"
      case false?: "\(name: column.name) COLLATE BINARY DESC"
      }
    }.joined(separator: ", ")
    let head: SQLText = index.isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
    var conditions: [SQLText] = index.entityNumbers.map { ["Z_ENT IN (\(numbers: $0))"] } ?? []
    if index.excludesNull, let column = index.columns.first { conditions = ["\(name: column.name) IS NOT NULL"] }
    conditions += index.conditions.map { SQLText(SharedSQL.condition($0)) }
    let rows: SQLText = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    return "\(head) \(name: index.name) ON \(name: index.table) (\(columns))\(rows)"
  }
}

extension SharedSQL {
  /// The condition of a partial index, in the form that ``IndexSignature`` parses.
  ///
  /// - Parameter row: The name of the row in the statement; nil if there is only one.
  package static func condition(_ condition: IndexDefinition.Condition, of row: SharedSQL? = nil) -> SharedSQL {
    let column: SharedSQL = row.map { "\($0).\(name: condition.column)" } ?? "\(name: condition.column)"
    return switch condition.test {
    case .isNil: "\(column) IS NULL"
    case .isNotNil: "\(column) IS NOT NULL"
    case .integer(let number): "\(column) = \(number: number)"
    case .boolean(let flag): "\(column) = \(boolean: flag)"
    }
  }
}

extension TableMap.ColumnType {
  /// The type name in a table's definition.
  var sql: SQLText {
    switch self {
    case .integer, .int32, .int16, .boolean: "INTEGER"
    case .float: "FLOAT"
    case .timestamp, .moment: "TIMESTAMP"
    case .decimal: "DECIMAL"
    case .varchar: "VARCHAR"
    case .blob, .uuid: "BLOB"
    }
  }
}

extension StoreSchema {
  /// Creates the schema of a new store with a layout: its tables and indexes.
  package init(newStore map: TableMap) {
    self.init(
      tables: map.tableDefinitions.map { table in
        Table(
          name: table.name, columns: table.columns.map { Column(name: $0.name, declaredType: $0.type.rawValue) })
      },
      indexes: map.indexDefinitions.map { Index(name: $0.name, table: $0.table, sql: SQLText.create($0).text) })
  }
}
