import Foundation
import Persist

/// The statements of changes in place.
extension ServerText {
  /// The types of a table's columns, by the folded names of the columns.
  typealias ColumnKinds = [String: ServerTerms.Kind]

  /// The statements of a change, in order.
  ///
  /// - Parameter kinds: The columns that a table has before the change.
  static func statements(
    _ change: SchemaChange, kinds: (String) throws -> ColumnKinds
  ) rethrows -> [ServerText] {
    switch change {
    // Triggers and views are those of an SQLite file.
    case .dropTrigger, .dropView: return []
    case .dropIndex(let name): return ["DROP INDEX \(table: name)"]
    case .createIndex(let index): return make(index)
    case .createTable(let table, let kept): return make(table) + add(kept, to: table.name)
    case .dropTable(let name): return ["DROP TABLE \(table: name)", dropKeySequence(of: name)]
    case .renameTable(let old, let new): return rename(old, to: new)
    case .renameColumn(let old, let new, let table):
      let rename: ServerText = "ALTER TABLE \(table: table) RENAME COLUMN \(name: old) TO \(name: new)"
      // Nothing gives new rows a value for a column that only keeps parked values.
      let release: ServerText = "ALTER TABLE \(table: table) ALTER COLUMN \(name: new) DROP NOT NULL"
      return (ParkedColumn.isOne(new) ? [rename, release] : [rename]) + names([new])
    case .addColumn(let column, let value, let table): return add(column, value, to: table)
    case .dropColumn(let column, let table): return ["ALTER TABLE \(table: table) DROP COLUMN \(name: column)"]
    case .rebuildTable(let rebuild): return reshape(rebuild)
    case .update(let table, let assignments, let rows):
      let kinds = try kinds(table)
      let list = assignments.map { assignment -> ServerText in
        let kind = kinds[assignment.column.foldedIdentifier] ?? .bytes
        return "\(name: assignment.column) = \(expression(assignment.value, as: kind, kinds))"
      }.joined(separator: ", ")
      return ["UPDATE \(table: table) AS r0 SET \(list)\(condition(rows))"]
    case .deleteRows(let table, let rows): return ["DELETE FROM \(table: table)\(condition(rows))"]
    case .copyRows(let source, let table, let values, let rows):
      return [try copy(rows, of: (source, kinds(source)), into: (table, kinds(table)), values)]
    case .sever, .removePairs, .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .forget:
      return SharedSQL.relationshipStatements(change).map { ServerText($0) }
    case .readFiles: return []
    case .deleteHistory(let table, let column, let numbers):
      return ["DELETE FROM \(table: table) WHERE \(name: column) IN (\(numbers: numbers))"]
    case .renumberEntities(let renumbering): return renumber(renumbering)
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
      "\(start) DEFAULT \(kind.literal(value))",
      "ALTER TABLE \(table: table) ALTER COLUMN \(name: column.name) DROP DEFAULT",
    ] + names
  }

  /// Adds columns that are unknown to the model, with the types that they have in another table.
  private static func add(_ kept: [StoreSchema.Column], to table: String) -> [ServerText] {
    let additions = kept.map { column -> ServerText in
      let type = TableMap.ColumnType(rawValue: column.declaredType).map { Self.type($0) }
      let declared = type ?? ServerText(stored: StoredDefinition(sql: column.declaredType))
      return "ALTER TABLE \(table: table) ADD COLUMN \(name: column.name) \(declared)"
    }
    return additions + names(kept.map(\.name))
  }

  /// Changes the columns of a table where it is, so that everything that others added to it remains: rights, indexes,
  /// triggers and partitions. All values that change are computed in one pass, from those before.
  private static func reshape(_ rebuild: TableRebuild) -> [ServerText] {
    let table = rebuild.definition.name
    let types = Dictionary(
      rebuild.former.map { ($0.name.foldedIdentifier, $0.declaredType) }, uniquingKeysWith: { first, _ in first })
    let kinds = types.mapValues { ServerTerms.Kind(declaredType: $0) }
    let values = Dictionary(
      rebuild.values.map { ($0.column.foldedIdentifier, $0.value) }, uniquingKeysWith: { first, _ in first })
    var added: [ServerText] = []
    var changes: [ServerText] = []
    for column in rebuild.definition.columns {
      let name = column.name.foldedIdentifier
      let (type, value) = (column.type.rawValue, values[name] ?? .column(column.name))
      switch (types[name], value) {
      case (nil, .constant(let constant)):
        added += add(column, constant, to: table)
        continue
      case (nil, _): added += add(column, .null, to: table)
      case (type?, .column(let own)) where own.foldedIdentifier == name: continue
      case (type?, .renumbered(let own, let numbers)) where own.foldedIdentifier == name && numbers.isEmpty: continue
      default: break
      }
      // The server may not be able to convert a default value. The model's follows at the end.
      if !["z_pk", "z_ent", "z_opt"].contains(name) { changes.append("ALTER COLUMN \(name: column.name) DROP DEFAULT") }
      let computed = expression(value, as: ServerTerms.Kind(column.type), kinds)
      changes.append("ALTER COLUMN \(name: column.name) TYPE \(Self.type(column.type)) USING \(computed)")
    }
    let remaining = Set((rebuild.definition.columns.map(\.name) + rebuild.kept.map(\.name)).map(\.foldedIdentifier))
    let drops = rebuild.former.filter { !remaining.contains($0.name.foldedIdentifier) }
      .map { "DROP COLUMN \(name: $0.name)" as ServerText }
    return added
      + [changes, drops].filter { !$0.isEmpty }.map { "ALTER TABLE \(table: table) \($0.joined(separator: ", "))" }
  }

  private static func copy(
    _ rows: RowCondition, of source: (name: String, kinds: ColumnKinds), into table: (name: String, kinds: ColumnKinds),
    _ values: [SchemaChange.Assignment]
  ) -> ServerText {
    let list = values.map { expression($0.value, as: table.kinds[$0.column.foldedIdentifier] ?? .bytes, source.kinds) }
    return """
      INSERT INTO \(table: table.name) (\(names: values.map(\.column))) \
      SELECT \(list.joined(separator: ", ")) FROM \(table: source.name) AS r0\(condition(rows))
      """
  }

  /// Replaces entity numbers, in two steps under a unique index: rows that exchange their numbers would collide while a
  /// single update runs.
  private static func renumber(_ change: EntityRenumbering) -> [ServerText] {
    guard change.rewritesRows else { return [renumber(change, change.numbers)] }
    let temporary = change.numbers.mapValues { -$0 }
    let final = Dictionary(temporary.values.map { ($0, -$0) }, uniquingKeysWith: { first, _ in first })
    return [renumber(change, temporary), renumber(change, final)]
  }

  private static func renumber(_ change: EntityRenumbering, _ numbers: [Int: Int]) -> ServerText {
    let old = numbers.keys.sorted()
    let assignments = change.columns.map { column -> ServerText in
      "\(name: column) = \(expression(.renumbered(column, numbers), as: .integer, [:]))"
    }
    let affected = change.columns.map { "\(name: $0) IN (\(numbers: old))" as ServerText }
    return """
      UPDATE \(table: change.table) SET \(assignments.joined(separator: ", ")) \
      WHERE \(affected.joined(separator: " OR "))
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
        SELECT setval(\(text: quoted(keySequence(of: table)))::regclass, greatest(\
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
    parts += condition.missing.map { "\(name: $0) IS NULL" }
    parts += condition.tests.map { ServerText(.condition($0)) }
    return parts.isEmpty ? "" : " WHERE \(parts.joined(separator: " AND "))"
  }

  /// A value for a column of a type, computed from the columns of a row.
  ///
  /// - Parameter row: The name of the row with a point, in statements that know several.
  static func expression(
    _ expression: RowExpression, as kind: ServerTerms.Kind, _ kinds: ColumnKinds, of row: ServerText = ""
  ) -> ServerText {
    func column(_ name: String) -> ServerText { "\(row)\(name: name)" }
    func value(_ expression: RowExpression) -> ServerText { self.expression(expression, as: kind, kinds, of: row) }
    switch expression {
    case .column(let name): return (kinds[name.foldedIdentifier] ?? kind).text(term: column(name), as: kind)
    case .constant(let value): return kind.literal(value)
    case .filled(.constant(.null), let standard): return kind.literal(standard)
    case .filled(let inner, let standard):
      return "coalesce(\(value(inner)), \(kind.literal(standard)))"
    case .ifPresent(let columns, let inner, let standard):
      let present = columns.map { "\(column($0)) IS NOT NULL" as ServerText }.joined(separator: " OR ")
      guard !columns.isEmpty else { return kind.literal(standard) }
      return "CASE WHEN \(present) THEN \(value(inner)) ELSE \(kind.literal(standard)) END"
    case .byEntity(let cases, let otherwise):
      let branches = cases.map { branch -> ServerText in
        "WHEN \(row)entity IN (\(numbers: branch.numbers)) THEN \(value(branch.value))"
      }.joined(separator: " ")
      return "CASE \(branches) ELSE \(value(otherwise)) END"
    case .renumbered(let name, let numbers):
      let changed = numbers.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
      guard !changed.isEmpty else { return column(name) }
      let branches = changed.map { "WHEN \(numbers: [$0.key]) THEN \(numbers: [$0.value])" as ServerText }
      return "CASE \(column(name)) \(branches.joined(separator: " ")) ELSE \(column(name)) END"
    case .marked(let name): return "'\\x01'::bytea || \(column(name))"
    case .unmarked(let name):
      return """
        CASE WHEN substr(\(column(name)), 1, 1) = '\\x01'::bytea THEN substr(\(column(name)), 2) \
        ELSE \(column(name)) END
        """
    case .shifted(let name, let distance): return "\(column(name)) + \(number: distance)"
    case .found(let name, let distance, let table, let numbers):
      return """
        (SELECT there.id + \(number: distance) FROM \(table: table) AS there \
        WHERE there.id = r0.\(name: name) AND there.entity IN (\(numbers: numbers)))
        """
    }
  }
}
