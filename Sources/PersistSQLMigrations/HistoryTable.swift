import Persist

/// The table with the applied versions of a database: Persist's, or the existing one of another tool.
struct HistoryTable: Sendable, Hashable {
  /// The meaning of its rows.
  enum Form: Sendable, Hashable {
    /// A row for each applied version.
    case everyVersion
    /// A single row with the newest version, which implies all earlier ones, and a column that indicates whether that
    /// version failed.
    /// version failed.
    case newestVersion(dirtyColumn: String)
  }

  /// The content of the column that identifies migrations.
  enum Key: Sendable, Hashable {
    /// A whole number.
    case number
    /// The version as written in the file's name.
    case versionText
    /// The name of the migration.
    case name
  }

  let name: String
  /// Whether the table exists; if not, it is created with the first migration.
  let exists: Bool
  let keyColumn: String
  let key: Key
  let form: Form
  /// Other columns that require a value: the migration's name, and the time.
  let nameColumns: [String]
  let timestampColumns: [String]

  /// The names of the tables that are tried if none is given: Persist's, which Rails, dbmate, golang-migrate, Ecto and
  /// FMDBMigrationManager use as well, then those of Diesel and GRDB.
  static let knownNames = ["schema_migrations", "__diesel_schema_migrations", "grdb_migrations"]

  /// Creates a table that doesn't exist yet.
  init(new name: String) {
    (self.name, exists, keyColumn, key, form) = (name, false, "version", .number, .everyVersion)
    (nameColumns, timestampColumns) = ([], [])
  }

  /// A table's column as described by the database.
  struct Column: Sendable, Hashable {
    var name: String
    var declaredType: String
    /// Whether a row must provide a value for the column.
    var needsValue: Bool
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` if the table isn't suitable.
  init(_ name: String, columns: [Column]) throws {
    func column(_ names: Set<String>) -> Column? { columns.first { names.contains($0.name.lowercased()) } }
    guard let key = column(["version"]) ?? column(["identifier"]) else {
      throw PersistenceError(
        .invalidRequest,
        "The table '\(name)' has no column 'version' or 'identifier', only "
          + "\(columns.map { "'\($0.name)'" }.joined(separator: ", ")).",
        fix: "Name another table for the applied versions: SQLMigrator.table.")
    }
    let dirty = column(["dirty"])
    let others = columns.filter { $0.needsValue && $0 != key && $0 != dirty }
    let names = others.map(\.name).filter { ["name", "description", "filename"].contains($0.lowercased()) }
    let moments = others.map(\.name).filter { Self.momentNames.contains($0.lowercased()) }
    let unknown = others.map(\.name).filter { !(names + moments).contains($0) }
    guard unknown.isEmpty else {
      throw PersistenceError(
        .invalidRequest,
        "The table '\(name)' requires values for \(unknown.map { "'\($0)'" }.joined(separator: ", ")), which Persist "
          + "doesn't know.",
        fix: "Give the columns defaults, or name another table for the applied versions: SQLMigrator.table.")
    }
    self.name = name
    exists = true
    (nameColumns, timestampColumns) = (names, moments)
    keyColumn = key.name
    self.key =
      key.name.lowercased() == "identifier"
      ? .name : key.declaredType.uppercased().contains("INT") ? .number : .versionText
    form = dirty.map { .newestVersion(dirtyColumn: $0.name) } ?? .everyVersion
  }

  private static let momentNames: Set<String> = [
    "applied_at", "created_at", "executed_at", "inserted_at", "installed_on", "migrated_at", "run_on", "updated_at",
  ]

  /// The statements that record a migration in the table, in the order of execution.
  func statementsToRecord(_ migration: SQLMigration) -> [SQLText] {
    let value: SQLValue =
      switch key {
      case .number: .integer(migration.version)
      case .versionText: .text(migration.versionText)
      case .name: .text(migration.name.isEmpty ? migration.versionText : migration.name)
      }
    var columns = [(name: keyColumn, value: value)] + nameColumns.map { ($0, .text(migration.name)) }
    var statements: [SQLText] = exists ? [] : [.createHistory(name)]
    if case .newestVersion(let dirtyColumn) = form {
      statements.append(.emptyHistory(name))
      columns.append((dirtyColumn, 0))
    }
    return statements + [.recordVersion(columns, moments: timestampColumns, in: name)]
  }

  /// The statements that remove the record of a reverted migration.
  ///
  /// - Parameters:
  ///   - keys: the contents of the key column that identify the migration.
  ///   - previous: the newest migration that remains applied; nil if there is none.
  func statementsToRemove(_ keys: [String], previous: SQLMigration?) -> [SQLText] {
    switch form {
    case .everyVersion: keys.map { .removeVersion($0, keyColumn: keyColumn, in: name) }
    case .newestVersion: previous.map(statementsToRecord) ?? [.emptyHistory(name)]
    }
  }
}
