import CSQLite

extension SQLiteConnection {
  /// Makes the connection ready to change tables: nothing that the schema says happens by itself meanwhile.
  ///
  /// Triggers don't fire, and dropping a table takes no rows of others with it. The connection is used for nothing else
  /// afterwards. Not within a transaction, where SQLite ignores the second setting.
  func prepareForChanges() throws {
    persist_sqlite3_disable_triggers(handle)
    try execute(.foreignKeysOff)
    try execute(.legacyAlterTableOff)
  }

  /// Carries out one change; the caller holds the transaction.
  func apply(_ change: SchemaChange) throws {
    guard case .rebuildTable(let rebuild) = change else {
      for statement in SQLText.statements(change) { try execute(statement) }
      return
    }
    // Read at this moment, for SQLite has brought the names in them up to date.
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

  func count(_ count: RowCount) throws -> Int {
    try first(.count(count)) { Int(clamping: $0.integer(0)) } ?? 0
  }

  /// The greatest key in a table, 0 where there is none: found at once, and about how many rows there are.
  func greatestRow(of table: String) throws -> Int64 { try first(.greatestRow(of: table)) { $0.integer(0) } ?? 0 }

  /// Whether SQLite can drop a column, which it can from version 3.35 on.
  static var canDropColumns: Bool { sqlite3_libversion_number() >= 3_035_000 }
}
