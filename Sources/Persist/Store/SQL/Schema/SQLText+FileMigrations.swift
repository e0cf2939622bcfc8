/// The tables in which tools that run SQL files record executed files, and Persist's own record table.
extension SQLText {
  package static func knows(table: String) -> SQLText {
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = \(value: .text(table)) COLLATE NOCASE"
  }

  /// The columns of a table: name, declared type, whether it is declared NOT NULL, whether it has a default.
  package static func columns(of table: String) -> SQLText {
    """
    SELECT name, type, "notnull", dflt_value IS NOT NULL FROM pragma_table_info(\(value: .text(table))) ORDER BY cid
    """
  }

  package static func createHistory(_ table: String) -> SQLText {
    "CREATE TABLE \(name: table) (version INTEGER NOT NULL PRIMARY KEY)"
  }

  package static func values(of columns: [String], in table: String) -> SQLText {
    "SELECT \(names: columns) FROM \(name: table)"
  }

  package static func emptyHistory(_ table: String) -> SQLText { "DELETE FROM \(name: table)" }

  /// Records a version unless it is already recorded.
  ///
  /// - Parameter moments: Columns that get the current time.
  package static func recordVersion(
    _ columns: [(name: String, value: SQLValue)], moments: [String], in table: String
  ) -> SQLText {
    let names = columns.map(\.name) + moments
    let values = columns.map { "\(value: $0.value)" as SQLText } + moments.map { _ in "CURRENT_TIMESTAMP" }
    return "INSERT OR IGNORE INTO \(name: table) (\(names: names)) VALUES (\(values.joined(separator: ", ")))"
  }

  /// Removes a version, or a name, from the table of applied ones.
  package static func removeVersion(_ key: String, keyColumn: String, in table: String) -> SQLText {
    "DELETE FROM \(name: table) WHERE CAST(\(name: keyColumn) AS TEXT) = \(value: .text(key))"
  }

  package static func removeRecord(version: Int64) -> SQLText {
    "DELETE FROM persist_sql_migrations WHERE version = \(value: .integer(version))"
  }

  package static let fileRecordTable = "persist_sql_migrations"

  package static let createFileRecords: SQLText = """
    CREATE TABLE IF NOT EXISTS persist_sql_migrations \
    (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT, applied_at TEXT)
    """

  /// The version, checksum, and time of application in seconds since 1970.
  package static let fileRecords: SQLText =
    "SELECT version, checksum, CAST(strftime('%s', applied_at) AS INTEGER) FROM persist_sql_migrations"

  /// - Parameter isAppliedNow: False for a file that another tool applied before.
  package static func record(version: Int64, name: String, checksum: String?, isAppliedNow: Bool) -> SQLText {
    let moment: SQLText = isAppliedNow ? "CURRENT_TIMESTAMP" : "NULL"
    return """
      INSERT INTO persist_sql_migrations (version, name, checksum, applied_at) \
      VALUES (\(value: .integer(version)), \(value: .text(name)), \(value: checksum.map { .text($0) } ?? .null), \
      \(moment)) \
      ON CONFLICT (version) DO UPDATE SET name = excluded.name, checksum = excluded.checksum, \
      applied_at = coalesce(excluded.applied_at, applied_at)
      """
  }

  package static let foreignKeysOn: SQLText = "PRAGMA foreign_keys = ON"
  package static let deferForeignKeysOn: SQLText = "PRAGMA defer_foreign_keys = ON"

  /// Whether any table has foreign keys.
  package static let hasForeignKeys: SQLText = """
    SELECT 1 FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) \
    WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' LIMIT 1
    """

  /// Rows with dangling foreign keys: table, parent table, number of rows, one of their row IDs.
  package static let brokenForeignKeys: SQLText = """
    SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2
    """
}
