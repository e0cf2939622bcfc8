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
      throw PersistError(
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

  /// Runs `body`, and within long statements asks now and then whether to go on.
  ///
  /// - Throws: ``PersistError/Code/interrupted`` where the answer was no.
  func whileGoingOn<T>(_ isToGoOn: (() -> Bool)?, _ body: () throws -> T) throws -> T {
    guard let isToGoOn else { return try body() }
    return try withoutActuallyEscaping(isToGoOn) { isToGoOn in
      let question = GoingOn(isToGoOn)
      // SQLite calls back on this thread, while a statement of this connection runs, and so only within `body`.
      sqlite3_progress_handler(
        handle, 100_000,
        { context in
          guard let context else { return 0 }
          return Unmanaged<GoingOn>.fromOpaque(context).takeUnretainedValue().isToGoOn() ? 0 : 1
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try withExtendedLifetime(question) { try body() }
    }
  }

  private final class GoingOn {
    let isToGoOn: () -> Bool
    init(_ isToGoOn: @escaping () -> Bool) { self.isToGoOn = isToGoOn }
  }

  /// Whether SQLite can drop a column, which it can from version 3.35 on.
  static var canDropColumns: Bool { sqlite3_libversion_number() >= 3_035_000 }
}
