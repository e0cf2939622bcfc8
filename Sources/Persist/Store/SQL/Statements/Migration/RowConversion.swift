/// New values for the rows of a table, which are written in parts while programs read and write the table.
///
/// Until all rows are converted, the table has another name, and its own name is that of a view. The view shows every
/// row with its new values, computed from the former ones where need be; its triggers write rows in their final form.
/// Only expressions are added to queries, so that they use the same indexes as before.
package struct RowConversion: Sendable, Equatable {
  package let table: String
  /// The new values, as expressions over the former ones.
  package let values: [SchemaChange.Assignment]
  /// The rows that change.
  package let rows: RowCondition

  package init(table: String, values: [SchemaChange.Assignment], rows: RowCondition) {
    self.table = table
    self.values = values
    self.rows = rows
  }

  /// The names of what a table's conversion needs in the store. No entity's table has one of these prefixes.
  package enum Names {
    private static let rowsPrefix = "PERSIST_ROWS_"

    /// The table itself, while its name is that of the view.
    package static func rows(_ table: String) -> String { rowsPrefix + table }
    /// The keys of the rows that were written in their final form before their turn came.
    package static func written(_ table: String) -> String { "PERSIST_WRITTEN_\(table)" }
    /// The table that contains the key up to which the rows are converted.
    package static func position(_ table: String) -> String { "PERSIST_POSITION_\(table)" }
    static func trigger(_ event: SQLText, _ table: String) -> String { "PERSIST_\(event.text)_\(table)" }

    /// The table whose rows another one contains; nil for other tables.
    package static func table(ofRows name: String) -> String? {
      name.hasPrefix(rowsPrefix) ? String(name.dropFirst(rowsPrefix.count)) : nil
    }
  }
}

extension SQLText {
  /// Begins a conversion, in time that doesn't depend on the number of rows. The table has rows, and is renamed first.
  ///
  /// - Parameter columns: The columns of the table.
  package static func begin(_ conversion: RowConversion, columns: [StoreSchema.Column]) -> [SQLText] {
    let table = conversion.table
    let (rows, written) = (RowConversion.Names.rows(table), RowConversion.Names.written(table))
    let position = RowConversion.Names.position(table)
    let names = columns.map(\.name)
    let new = names.map { "NEW.\(name: $0)" as SQLText }
    let changes = names.map { "\(name: $0) = NEW.\(name: $0)" as SQLText }.joined(separator: ", ")
    let recordKey: SQLText = """
      INSERT OR IGNORE INTO \(name: written) SELECT NEW.Z_PK \
      WHERE NEW.Z_PK > (SELECT Z_PLACE FROM \(name: position)) AND NEW.Z_PK <= (SELECT Z_LAST FROM \(name: position));
      """
    return [
      "CREATE TABLE \(name: position) (Z_PLACE INTEGER, Z_LAST INTEGER)",
      recordEnds(ofRowsOf: table),
      "CREATE TABLE \(name: written) (Z_PK INTEGER PRIMARY KEY)",
      view(conversion, columns),
      trigger(
        on: "INSERT", of: table,
        running: """
          INSERT INTO \(name: rows) (\(names: names)) VALUES (\(new.joined(separator: ", "))); \(recordKey)
          """),
      trigger(
        on: "UPDATE", of: table, running: "UPDATE \(name: rows) SET \(changes) WHERE Z_PK = OLD.Z_PK; \(recordKey)"),
      trigger(on: "DELETE", of: table, running: "DELETE FROM \(name: rows) WHERE Z_PK = OLD.Z_PK;"),
    ]
  }

  /// Records before which row a conversion begins, and the last row. SQLite looks each of them up on its own, but would
  /// read all rows for both together.
  package static func recordEnds(ofRowsOf table: String) -> SQLText {
    let rows = RowConversion.Names.rows(table)
    return """
      INSERT INTO \(name: RowConversion.Names.position(table)) \
      SELECT (SELECT MIN(Z_PK) FROM \(name: rows)) - 1, (SELECT MAX(Z_PK) FROM \(name: rows))
      """
  }

  private static func trigger(on event: SQLText, of table: String, running body: SQLText) -> SQLText {
    """
    CREATE TRIGGER \(name: RowConversion.Names.trigger(event, table)) INSTEAD OF \(event) ON \(name: table) \
    BEGIN \(body) END
    """
  }

  private static func view(_ conversion: RowConversion, _ columns: [StoreSchema.Column]) -> SQLText {
    let table = conversion.table
    let position = RowConversion.Names.position(table)
    let isConverted: SQLText = """
      Z_PK <= (SELECT Z_PLACE FROM \(name: position)) OR Z_PK > (SELECT Z_LAST FROM \(name: position)) \
      OR Z_PK IN (SELECT Z_PK FROM \(name: RowConversion.Names.written(table)))
      """
    let isUnaffected: SQLText =
      conversion.rows.entityNumbers.map { "\(isConverted) OR IFNULL(Z_ENT NOT IN (\(numbers: $0)), 1)" } ?? isConverted
    let shown = columns.map { column -> SQLText in
      guard let value = conversion.values.first(where: { $0.column == column.name })?.value
      else { return "\(name: column.name)" }
      // A view's columns have no type that would convert whole numbers.
      let new: SQLText = TableMap.ColumnType.float.isDeclared(by: column)
        ? "CAST(\(expression(value)) AS FLOAT)" : expression(value)
      return "CASE WHEN \(isUnaffected) THEN \(name: column.name) ELSE \(new) END AS \(name: column.name)"
    }
    return """
      CREATE VIEW \(name: table) AS SELECT \(shown.joined(separator: ", ")) \
      FROM \(name: RowConversion.Names.rows(table))
      """
  }

  /// The last key up to which a table's rows are converted, and that of the last row to convert.
  package static func position(ofConversionOf table: String) -> SQLText {
    "SELECT Z_PLACE, Z_LAST FROM \(name: RowConversion.Names.position(table))"
  }

  /// The key of the last of the next rows to convert; nothing if there are fewer.
  package static func key(ofRow count: Int64, after place: Int64, in table: String) -> SQLText {
    """
    SELECT Z_PK FROM \(name: RowConversion.Names.rows(table)) WHERE Z_PK > \(value: .integer(place)) \
    ORDER BY Z_PK LIMIT 1 OFFSET \(value: .integer(count - 1))
    """
  }

  /// Converts the rows after a key, up to another one.
  package static func convert(_ columns: [String], of table: String, after place: Int64, to end: Int64) -> [SQLText] {
    let (rows, position) = (RowConversion.Names.rows(table), RowConversion.Names.position(table))
    let changes = columns.map { "\(name: $0) = shown.\(name: $0)" as SQLText }.joined(separator: ", ")
    let differences = columns.map { "\(name: rows).\(name: $0) IS NOT shown.\(name: $0)" as SQLText }
    return [
      """
      UPDATE \(name: rows) SET \(changes) FROM \(name: table) AS shown WHERE \(name: rows).Z_PK = shown.Z_PK \
      AND \(name: rows).Z_PK > \(value: .integer(place)) AND \(name: rows).Z_PK <= \(value: .integer(end)) \
      AND (\(differences.joined(separator: " OR ")))
      """,
      "DELETE FROM \(name: RowConversion.Names.written(table)) WHERE Z_PK <= \(value: .integer(end))",
      "UPDATE \(name: position) SET Z_PLACE = \(value: .integer(end))",
    ]
  }

  /// Removes what a conversion needed; the table gets its name back afterward.
  package static func end(conversionOf table: String) -> [SQLText] {
    [
      "DROP VIEW \(name: table)", "DROP TABLE \(name: RowConversion.Names.written(table))",
      "DROP TABLE \(name: RowConversion.Names.position(table))",
    ]
  }
}

extension StoreSchema {
  /// Whether a trigger, or a view, mentions a table.
  ///
  /// The triggers that delete parked values with their rows don't count: they belong to the table under any name.
  package func mentionsElsewhere(_ table: String) -> Bool {
    triggers.contains { !ParkedSlot.isTrigger($0.name) && SQLTokens.mentions(table, in: $0.sql) }
      || views.contains { SQLTokens.mentions(table, in: $0.sql) }
  }
}
