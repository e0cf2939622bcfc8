import Foundation

/// The statements of changes in place.
extension ServerText {
  /// The types of a table's columns, by the folded names of the columns.
  typealias ColumnKinds = [String: ServerTerms.Kind]

  /// The statements of a change, in order.
  ///
  /// - Parameters:
  ///   - kinds: The columns that a table has before the change.
  ///   - indexes: The definitions of a table's indexes, to recreate when it is rewritten.
  static func statements(
    _ change: SchemaChange, kinds: (String) throws -> ColumnKinds, indexes: (String) throws -> [StoredDefinition]
  ) rethrows -> [ServerText] {
    switch change {
    // Triggers are those of an SQLite file.
    case .dropTrigger: return []
    case .dropIndex(let name): return ["DROP INDEX \(table: name)"]
    case .createIndex(let index): return make(index)
    case .createTable(let table): return make(table)
    case .dropTable(let name): return ["DROP TABLE \(table: name)", dropKeySequence(of: name)]
    case .renameTable(let old, let new): return rename(old, to: new)
    case .renameColumn(let old, let new, let table):
      return ["ALTER TABLE \(table: table) RENAME COLUMN \(name: old) TO \(name: new)"] + names([new])
    case .addColumn(let column, let value, let table): return add(column, value, to: table)
    case .dropColumn(let column, let table): return ["ALTER TABLE \(table: table) DROP COLUMN \(name: column)"]
    case .rebuildTable(let rebuild):
      return try rewrite(rebuild, kinds(rebuild.definition.name), indexes(rebuild.definition.name))
    case .update(let table, let assignments, let rows):
      let kinds = try kinds(table)
      let list = assignments.map { assignment -> ServerText in
        let kind = kinds[assignment.column.foldedIdentifier] ?? .bytes
        return "\(name: assignment.column) = \(expression(assignment.value, as: kind, kinds))"
      }.joined(separator: ", ")
      return ["UPDATE \(table: table) AS r0 SET \(list)\(condition(rows))"]
    case .deleteRows(let table, let rows): return ["DELETE FROM \(table: table)\(condition(rows))"]
    case .copyRows(let source, let table, let values, let rows):
      return [copy(source, try kinds(source), into: table, try kinds(table), values, rows)]
    case .sever, .removePairs, .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .forget:
      return SQLText.relationshipStatements(change).map { ServerText($0) }
    case .deleteHistory: return []
    case .setEntities(let old, let new): return entities(old, new)
    }
  }

  private static func names(_ names: [String]) -> [ServerText] { names.compactMap(record) }

  private static func rename(_ old: String, to new: String) -> [ServerText] {
    [
      "ALTER TABLE \(table: old) RENAME TO \(name: new)",
      "ALTER SEQUENCE IF EXISTS \(table: keySequence(of: old)) RENAME TO \(name: keySequence(of: new))",
    ] + names([new])
  }

  /// Adds a column in constant time: existing rows get the default value from the catalog. It isn't kept for new rows,
  /// whose values are the program's.
  private static func add(_ column: TableDefinition.Column, _ value: SQLValue, to table: String) -> [ServerText] {
    let kind = ServerTerms.Kind(column.type)
    let start: ServerText = "ALTER TABLE \(table: table) ADD COLUMN \(name: column.name) \(type(column.type))"
    let names = names([column.name])
    if value == .null { return [start] + names }
    return [
      "\(start) DEFAULT \(constant(value, as: kind))",
      "ALTER TABLE \(table: table) ALTER COLUMN \(name: column.name) DROP DEFAULT",
    ] + names
  }

  private static func rewrite(
    _ rebuild: TableRebuild, _ kinds: ColumnKinds, _ indexes: [StoredDefinition]
  ) -> [ServerText] {
    let (name, new) = (rebuild.definition.name, rebuild.temporaryName)
    var statements = create(rebuild.definition, named: new) + names(rebuild.definition.columns.map(\.name))
    for column in rebuild.kept {
      statements.append("ALTER TABLE \(table: new) ADD COLUMN \(name: column.name) \(type(of: column))")
    }
    var newKinds: ColumnKinds = [:]
    for column in rebuild.definition.columns { newKinds[column.name.foldedIdentifier] = ServerTerms.Kind(column.type) }
    for column in rebuild.kept { newKinds[column.name.foldedIdentifier] = kinds[column.name.foldedIdentifier] }
    let values = rebuild.values + rebuild.kept.map { .init($0.name, .column($0.name)) }
    statements.append(copy(name, kinds, into: new, newKinds, values, .all))
    statements += ["DROP TABLE \(table: name)", "ALTER TABLE \(table: new) RENAME TO \(name: name)"]
    return statements + indexes.map { ServerText(stored: $0) }
  }

  private static func copy(
    _ source: String, _ sourceKinds: ColumnKinds, into table: String, _ kinds: ColumnKinds,
    _ values: [SchemaChange.Assignment], _ rows: RowCondition
  ) -> ServerText {
    let list = values.map { expression($0.value, as: kinds[$0.column.foldedIdentifier] ?? .bytes, sourceKinds) }
    return """
      INSERT INTO \(table: table) (\(names: values.map(\.column))) \
      SELECT \(list.joined(separator: ", ")) FROM \(table: source) AS r0\(condition(rows))
      """
  }

  private static func entities(_ old: [Int], _ new: [SchemaChange.EntityRow]) -> [ServerText] {
    var statements: [ServerText] =
      old.isEmpty ? [] : ["DELETE FROM \(table: "Z_PRIMARYKEY") WHERE entity IN (\(numbers: old))"]
    for row in new {
      statements.append(
        """
        INSERT INTO \(table: "Z_PRIMARYKEY") VALUES (\(number: Int64(row.number)), \(text: row.name), \
        \(number: Int64(row.parent)), \(number: row.maximum))
        """)
      guard let table = row.table else { continue }
      // The keys of rows that came from another table mustn't be given out again.
      statements.append(createKeySequence(of: table))
      statements.append(
        """
        SELECT setval(\(text: "\"" + name(keySequence(of: table)) + "\"")::regclass, greatest(\
        (SELECT last_value FROM \(table: keySequence(of: table))), (SELECT max(id) FROM \(table: table)), \
        \(number: row.maximum), 1))
        """)
    }
    return statements
  }

  // MARK: Values

  static func condition(_ condition: RowCondition) -> ServerText {
    var parts: [ServerText] = []
    if let numbers = condition.entityNumbers { parts.append("entity IN (\(numbers: numbers))") }
    if let column = condition.missing { parts.append("\(name: column) IS NULL") }
    return parts.isEmpty ? "" : " WHERE \(parts.joined(separator: " AND "))"
  }

  /// A value for a column of a type, computed from the columns of a row.
  static func expression(
    _ expression: RowExpression, as kind: ServerTerms.Kind, _ kinds: ColumnKinds
  ) -> ServerText {
    switch expression {
    case .column(let name):
      let own = kinds[name.foldedIdentifier]
      return own == nil || own == kind ? "\(name: name)" : "\(name: name)::\(kind.typeName)"
    case .constant(let value): return constant(value, as: kind)
    case .filled(.constant(.null), let value): return constant(value, as: kind)
    case .filled(let inner, let value):
      return "coalesce(\(self.expression(inner, as: kind, kinds)), \(constant(value, as: kind)))"
    case .byEntity(let cases, let otherwise):
      let branches = cases.map { branch -> ServerText in
        "WHEN entity IN (\(numbers: branch.numbers)) THEN \(self.expression(branch.value, as: kind, kinds))"
      }.joined(separator: " ")
      return "CASE \(branches) ELSE \(self.expression(otherwise, as: kind, kinds)) END"
    case .renumbered(let column, let numbers):
      let changed = numbers.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
      guard !changed.isEmpty else { return "\(name: column)" }
      let branches = changed.map { "WHEN \(numbers: [$0.key]) THEN \(numbers: [$0.value])" as ServerText }
      return "CASE \(name: column) \(branches.joined(separator: " ")) ELSE \(name: column) END"
    case .marked(let column): return "'\\x01'::bytea || \(name: column)"
    case .unmarked(let column):
      return """
        CASE WHEN substr(\(name: column), 1, 1) = '\\x01'::bytea THEN substr(\(name: column), 2) \
        ELSE \(name: column) END
        """
    case .shifted(let column, let distance): return "\(name: column) + \(number: distance)"
    case .found(let column, let distance, let table, let numbers):
      return """
        (SELECT there.id + \(number: distance) FROM \(table: table) AS there \
        WHERE there.id = r0.\(name: column) AND there.entity IN (\(numbers: numbers)))
        """
    }
  }

  private static func constant(_ value: SQLValue, as kind: ServerTerms.Kind) -> ServerText {
    switch (kind, value) {
    case (_, .null): "NULL"
    case (.decimal, .blob(let data)): "\(literal: String(decoding: data, as: UTF8.self))::numeric"
    case (_, .integer(let number)): "\(literal: "\(number)")::\(kind.typeName)"
    case (_, .double(let number)): "\(literal: "\(number)")::\(kind.typeName)"
    case (_, .text(let text)): "\(literal: text)::\(kind.typeName)"
    case (_, .blob(let data)):
      "decode(\(literal: data.hexadecimalDigits), 'hex')"
    }
  }
}

extension ServerTerms.Kind {
  /// The name of the type in a cast.
  var typeName: ServerText {
    switch self {
    case .integer: "bigint"
    case .double: "float8"
    case .decimal: "numeric"
    case .text: "text"
    case .bytes: "bytea"
    }
  }

  /// The kind of a column by the type that the server names; bytes for others.
  init(typeName: String) {
    self =
      switch typeName {
      case "bigint", "integer", "smallint": .integer
      case "double precision", "real": .double
      case let name where ServerText.declaredType(name) == TableMap.ColumnType.timestamp.rawValue: .double
      case "numeric": .decimal
      case "text", "character varying": .text
      default: .bytes
      }
  }
}
