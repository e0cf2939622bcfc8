import LinkedSQLite
import Foundation

extension SQLiteConnection {
  /// Prepares the connection for schema changes by disabling the schema's automatic actions.
  ///
  /// Triggers don't fire, and dropping a table doesn't delete rows of others. The connection is used for nothing else
  /// until ``endChanges()``. Neither is called within a transaction.
  func prepareForChanges() throws {
    try defineMissingFunctions()
    if flagsBeforeChanges == nil { flagsBeforeChanges = SchemaChangeFlags(setOn: handle) }
  }

  /// Restores the settings of the connection from before ``prepareForChanges()``.
  func endChanges() {
    flagsBeforeChanges?.restore(on: handle)
    flagsBeforeChanges = nil
  }

  /// Performs one change; the caller holds the transaction.
  package func apply(_ change: SchemaChange) throws {
    switch change {
    case .rebuildTable(let rebuild): try rebuildTable(rebuild)
    case .renameTable, .renameColumn, .dropColumn:
      try withoutBrokenViews { for statement in SQLText.statements(change) { try execute(statement) } }
    case .readFiles(let table, let column, let rows): try readFiles(in: table, column: column, rows)
    default: for statement in SQLText.statements(change) { try execute(statement) }
    }
  }

  /// Sets views aside that refer to something that doesn't exist: as long as there are any, SQLite refuses to change
  /// the names in a schema.
  private func withoutBrokenViews(_ body: () throws -> Void) throws {
    let broken = try all(.views) { (name: $0.text(0), sql: $0.text(1)) }.filter { view in
      (try? all(.probe(view: view.name)) { _ in }) == nil
    }
    let definitions = try broken.flatMap { view in
      try [StoredDefinition(sql: view.sql)] + all(.attachments(of: view.name)) { StoredDefinition(sql: $0.text(0)) }
    }
    for view in broken { for statement in SQLText.statements(.dropView(view.name)) { try execute(statement) } }
    try body()
    for definition in definitions { try execute(SQLText(storedIn: definition)) }
  }

  /// Replaces the names of files by the bytes of the files, one file at a time.
  private func readFiles(in table: String, column: String, _ rows: RowCondition) throws {
    guard let url else { return }
    let folder = ExternalDataFolder(storeAt: url)
    for (row, name) in try namedFiles(in: table, column: column, rows) {
      try execute(.set(.blob(Data([1]) + folder.data(named: name)), in: column, of: table, row: row))
    }
  }

  private func namedFiles(
    in table: String, column: String, _ rows: RowCondition
  ) throws -> [(row: Int64, name: String)] {
    try all(.namedFiles(in: table, column: column, rows)) { row in
      (row: row.integer(0), name: row.data(1).largeValueName)
    }
  }

  private func rebuildTable(_ rebuild: TableRebuild) throws {
    // Reads the definitions only now, after SQLite has updated the names in them.
    let expected = try count(.rows(rebuild.definition.name, .all))
    let attachments = try all(.attachments(of: rebuild.definition.name)) { StoredDefinition(sql: $0.text(0)) }
    for statement in SQLText.copying(rebuild) { try execute(statement) }
    let copied = try count(.rows(rebuild.temporaryName, .all))
    guard copied == expected else {
      throw PersistenceError(
        .storeDamaged, at: .store(url),
        "\(copied) of \(expected) rows of '\(rebuild.definition.name)' could be copied.",
        fix: "The file is damaged; restore it from a backup.")
    }
    for statement in SQLText.replacing(rebuild) { try execute(statement) }
    for attachment in attachments { try execute(SQLText(storedIn: attachment)) }
  }

  package func count(_ count: RowCount) throws -> Int {
    switch count {
    case .missingFiles(let table, let column, let rows):
      guard let url else { return 0 }
      let folder = ExternalDataFolder(storeAt: url)
      return try namedFiles(in: table, column: column, rows).filter { try folder.file(named: $0.name) == nil }.count
    case .otherThanURIs(let table, let column, let rows):
      return try all(of: .texts(in: table, column: column, rows)) { ($0.text(0), Int(clamping: $0.integer(1))) }
        .filter { !StoredValue.isURI($0.0) }.reduce(0) { $0 + $1.1 }
    default: break
    }
    return try first(.count(count)) { Int(clamping: $0.integer(0)) } ?? 0
  }

  /// The greatest key in a table; 0 if it is empty. Found immediately, and about the number of rows.
  package func greatestRow(of table: String) throws -> Int64 {
    do { return try first(.greatestRow(of: table)) { $0.integer(0) } ?? 0 } catch {
      // A table whose rows are being converted is a view, which has no such keys.
      let rows = RowConversion.Names.rows(table)
      guard try first(.knows(table: rows), { _ in true }) == true else { throw error }
      return try first(.greatestRow(of: rows)) { $0.integer(0) } ?? 0
    }
  }

  /// Whether SQLite can drop a column, which requires version 3.35.
  static var canDropColumns: Bool { sqlite3_libversion_number() >= 3_035_000 }
}
