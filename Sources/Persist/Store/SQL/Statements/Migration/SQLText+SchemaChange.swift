extension SQLText {
  /// The statements of a change, in order, excluding those that recreate a rebuilt table's indexes and triggers, whose
  /// text is in the store.
  package static func statements(_ change: SchemaChange) -> [SQLText] {
    switch change {
    case .dropTrigger(let name): ["DROP TRIGGER \(name: name)"]
    case .dropView(let name): ["DROP VIEW \(name: name)"]
    case .dropIndex(let name): ["DROP INDEX \(name: name)"]
    case .createIndex(let index): [create(index)]
    case .createTable(let table, let kept): [create(table, kept: kept)]
    case .dropTable(let name): ["DROP TABLE \(name: name)"]
    case .renameTable(let old, let new): ["ALTER TABLE \(name: old) RENAME TO \(name: new)"]
    case .renameColumn(let old, let new, let table):
      ["ALTER TABLE \(name: table) RENAME COLUMN \(name: old) TO \(name: new)"]
    case .addColumn(let column, let value, let table):
      ["ALTER TABLE \(name: table) ADD COLUMN \(name: column.name) \(column.type.sql)\(defaultClause(value))"]
    case .dropColumn(let column, let table): ["ALTER TABLE \(name: table) DROP COLUMN \(name: column)"]
    case .rebuildTable(let rebuild): copying(rebuild) + replacing(rebuild)
    case .update(let table, let assignments, let rows):
      ["UPDATE \(name: table) SET \(list(assignments))\(SharedSQL.condition(rows))"]
    case .readFiles: []
    case .deleteRows(let table, let rows): ["DELETE FROM \(name: table)\(SharedSQL.condition(rows))"]
    case .copyRows(let source, let table, let values, let rows): [copy(source, into: table, values: values, rows: rows)]
    case .sever, .removePairs, .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .forget:
      SharedSQL.relationshipStatements(change).map { SQLText($0) }
    case .deleteHistory(let table, let column, let numbers):
      ["DELETE FROM \(name: table) WHERE \(name: column) IN (\(numbers: numbers))"]
    case .renumberEntities(let renumbering): statements(renumbering)
    case .setEntities(let old, let new): entityStatements(old, new)
    }
  }

  /// The first step of rewriting a table: creates the new one beside the old one.
  package static func copying(_ rebuild: TableRebuild) -> [SQLText] {
    [
      create(rebuild.definition, named: rebuild.temporaryName, kept: rebuild.kept),
      copy(
        rebuild.definition.name, into: rebuild.temporaryName,
        values: rebuild.values + rebuild.kept.map { .init($0.name, .column($0.name)) }, rows: .all),
    ]
  }

  /// The second step: replaces the old table with the new one.
  ///
  /// References to the table by name in other tables' triggers and views remain valid; without legacy renaming, SQLite
  /// would consider them broken while the name is unused.
  package static func replacing(_ rebuild: TableRebuild) -> [SQLText] {
    [
      "DROP TABLE \(name: rebuild.definition.name)",
      legacyAlterTableOn,
      "ALTER TABLE \(name: rebuild.temporaryName) RENAME TO \(name: rebuild.definition.name)",
      legacyAlterTableOff,
    ]
  }

  package static let foreignKeysOff: SQLText = "PRAGMA foreign_keys = OFF"
  static let legacyAlterTableOff: SQLText = "PRAGMA legacy_alter_table = OFF"
  private static let legacyAlterTableOn: SQLText = "PRAGMA legacy_alter_table = ON"

  /// Reads no row of a view: an error if the view refers to something that doesn't exist.
  package static func probe(view: String) -> SQLText { "SELECT 1 FROM \(name: view) LIMIT 0" }

  /// The definitions of a table's indexes and triggers, or of a view's triggers, except those without text.
  package static func attachments(of table: String) -> SQLText {
    """
    SELECT sql FROM sqlite_master WHERE tbl_name = \(value: .text(table)) COLLATE NOCASE \
    AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, name
    """
  }

  private static func defaultClause(_ value: SQLValue) -> SQLText {
    value == .null ? "" : " DEFAULT \(constant(value))"
  }

  private static func list(_ assignments: [SchemaChange.Assignment]) -> SQLText {
    assignments.map { assignment -> SQLText in "\(name: assignment.column) = \(expression(assignment.value))" }
      .joined(separator: ", ")
  }

  private static func copy(
    _ source: String, into table: String, values: [SchemaChange.Assignment], rows: RowCondition
  ) -> SQLText {
    """
    INSERT INTO \(name: table) (\(names: values.map(\.column))) \
    SELECT \(values.map { expression($0.value) }.joined(separator: ", ")) \
    FROM \(name: source)\(SharedSQL.condition(rows))
    """
  }

  private static func entityStatements(_ old: [Int], _ new: [SchemaChange.EntityRow]) -> [SQLText] {
    var statements: [SQLText] = old.isEmpty ? [] : ["DELETE FROM Z_PRIMARYKEY WHERE Z_ENT IN (\(numbers: old))"]
    for row in new {
      let known: SQLText = "\(number: row.maximum)"
      let maximum: SQLText =
        row.table.map { "MAX(\(known), IFNULL((SELECT MAX(Z_PK) FROM \(name: $0)), 0))" } ?? known
      statements.append(
        """
        INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
        VALUES (\(numbers: [row.number]), \(literal: row.name), \(numbers: [row.parent]), \(maximum))
        """)
    }
    return statements
  }
}

/// Replacing entity numbers in tables that aren't the model's.
extension SQLText {
  private static let renumbered: SQLText = "temp.Z_PERSIST_RENUMBERED"

  static func statements(_ change: EntityRenumbering) -> [SQLText] {
    let (table, columns) = (change.table, change.columns)
    let old = change.numbers.keys.sorted()
    let affected = columns.map { "\(name: $0) IN (\(numbers: old))" as SQLText }.joined(separator: " OR ")
    let assigned = columns.map { "\(name: $0) = \(expression(.renumbered($0, change.numbers)))" as SQLText }
    guard change.rewritesRows else {
      return ["UPDATE \(name: table) SET \(assigned.joined(separator: ", ")) WHERE \(affected)"]
    }
    return [
      // The rowid is a column of its own in the temporary table.
      "CREATE TEMPORARY TABLE Z_PERSIST_RENUMBERED AS SELECT \(aliased(change)) FROM \(name: table) WHERE \(affected)",
      "DELETE FROM \(name: table) WHERE \(affected)",
      "INSERT INTO \(name: table) (\(names: change.all)) SELECT \(values(change)) FROM \(renumbered)",
      "DROP TABLE \(renumbered)",
    ]
  }

  private static func aliased(_ change: EntityRenumbering) -> SQLText {
    change.all.enumerated().map { "\(name: $1) AS \(name: "c\($0)")" as SQLText }.joined(separator: ", ")
  }

  private static func values(_ change: EntityRenumbering) -> SQLText {
    change.all.enumerated().map { place, name in
      change.columns.contains(name) ? expression(.renumbered("c\(place)", change.numbers)) : "\(name: "c\(place)")"
    }.joined(separator: ", ")
  }

  /// Counts the rows, or groups of rows, with new numbers that violate a rule.
  ///
  /// - Parameter gone: The entity numbers whose rows are deleted.
  static func violations(of rule: EntityNumberRule, by change: EntityRenumbering, without gone: [Int]) -> SQLText {
    let columns = change.all.map { name -> SQLText in
      change.columns.contains(name)
        ? "\(expression(.renumbered(name, change.numbers))) AS \(name: name)" : "\(name: name)"
    }.joined(separator: ", ")
    let kept = change.columns.map { "IFNULL(\(name: $0) NOT IN (\(numbers: gone)), 1)" as SQLText }
      .joined(separator: " AND ")
    // The subquery has the table's name, because a rule may contain it.
    let rows: SQLText = "(SELECT \(columns) FROM \(name: change.table) WHERE \(kept)) AS \(name: change.table)"
    switch rule {
    case .check(let expression):
      return "SELECT COUNT(*) FROM \(rows) WHERE NOT (\(SQLText(storedIn: StoredDefinition(sql: expression))))"
    case .unique(let terms, let condition):
      let terms = terms.map { SQLText(storedIn: StoredDefinition(sql: $0)) }
      let present = terms.map { "(\($0)) IS NOT NULL" as SQLText }
      let conditions = present + [condition].compactMap { condition in
        condition.map { "(\(SQLText(storedIn: StoredDefinition(sql: $0))))" }
      }
      return """
        SELECT COUNT(*) FROM (SELECT 1 FROM \(rows) WHERE \(conditions.joined(separator: " AND ")) \
        GROUP BY \(terms.joined(separator: ", ")) HAVING COUNT(*) > 1)
        """
    }
  }
}
