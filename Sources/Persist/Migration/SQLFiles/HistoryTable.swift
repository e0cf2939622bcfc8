/// The table in which the versions stand that a database has: Persist's, or that of another tool, as it is.
struct HistoryTable: Sendable, Hashable {
  /// What its rows mean.
  enum Form: Sendable, Hashable {
    /// A row for each version that was applied.
    case everyVersion
    /// One row, the newest version, before which all are applied, and a column that tells whether that one failed.
    case newestVersion(dirtyColumn: String)
  }

  /// What stands in the column that tells migrations apart.
  enum Key: Sendable, Hashable {
    /// A whole number.
    case number
    /// The version as the file's name has it.
    case versionText
    /// The name of the migration.
    case name
  }

  let name: String
  /// Whether the table is there; where not, it is made with the first migration.
  let exists: Bool
  let keyColumn: String
  let key: Key
  let form: Form
  /// Further columns that have to have a value: the migration's name, and the moment.
  let nameColumns: [String]
  let momentColumns: [String]

  /// The tables that are looked for where none is named: Persist's name, which Rails, dbmate, golang-migrate, Ecto and
  /// FMDBMigrationManager use too, then those of Diesel and of GRDB.
  static let knownNames = ["schema_migrations", "__diesel_schema_migrations", "grdb_migrations"]

  /// A table that isn't there yet.
  init(new name: String) {
    (self.name, exists, keyColumn, key, form) = (name, false, "version", .number, .everyVersion)
    (nameColumns, momentColumns) = ([], [])
  }

  /// A table's column, as the database describes it.
  struct Column: Sendable, Hashable {
    var name: String
    var declaredType: String
    /// Whether a row can't do without a value of its own for the column.
    var needsValue: Bool
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` where the table can't be what it should be.
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
        "The table '\(name)' wants values for \(unknown.map { "'\($0)'" }.joined(separator: ", ")), which Persist "
          + "doesn't know.",
        fix: "Give the columns defaults, or name another table for the applied versions: SQLMigrator.table.")
    }
    self.name = name
    exists = true
    (nameColumns, momentColumns) = (names, moments)
    keyColumn = key.name
    self.key =
      key.name.lowercased() == "identifier"
      ? .name : key.declaredType.uppercased().contains("INT") ? .number : .versionText
    form = dirty.map { .newestVersion(dirtyColumn: $0.name) } ?? .everyVersion
  }

  private static let momentNames: Set<String> = [
    "applied_at", "created_at", "executed_at", "inserted_at", "installed_on", "migrated_at", "run_on", "updated_at",
  ]

  /// What the table gets for a migration, in the order in which it runs.
  func note(_ migration: SQLMigration) -> [SQLText] {
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
    return statements + [.note(columns, moments: momentColumns, in: name)]
  }
}
