import Persist

extension ServerMigrationConnection {
  /// Acquires all locks on the store's tables together. Otherwise readers of a table whose lock the migration has would
  /// wait for as long as it waits for another one.
  func lockTables(for changes: [SchemaChange], to map: TableMap) throws {
    try requireOneModel()
    guard isOnline || !changes.isEmpty else { return }
    let schema = try catalog().schema
    knownCatalog = nil
    try mapped {
      let keys = try ServerForeignKeys(session).compared(with: map)
      var locks = TableLocks()
      // Others can read the tables of a new key, but not those of one that is dropped.
      locks.add(keys.missing.flatMap(\.all).filter { schema.table(named: $0) != nil }, .exclusive)
      locks.add(keys.stale.flatMap(\.all))
      if changes.contains(where: \.movesRows) { locks.add(keys.kept.flatMap(\.all)) }
      let redefined = changes.compactMap(\.redefinedTable).filter { schema.table(named: $0) != nil }
      locks.add(redefined)
      locks.add(try ServerRules(session).present().values)
      let described = ServerTableDescription(session, map)
      locks.add(try described.alteredTables(besides: Set(redefined.map(ServerText.name))))
      locks.add(remains.tables(in: schema))
      // Triggers would copy values between places that no longer belong together, or depend on columns to drop.
      // Everything is read before the first lock.
      let drops = try isOnline
        ? session.dropsOfTriggerFunctions(withPrefixes: [OnlineTriggers.prefix, OldValueTriggers.prefix])
          + schema.derivedTriggers.flatMap { ServerText.dropDerived($0) } : []
      if isOnline || changes.contains(where: \.dropsTriggers) { locks.add(try session.tablesWithTriggers()) }
      // The limit begins with the locks: until then, a migration in one step may do without statements for any time.
      if !isOnline { try session.run([ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: false)]) }
      try session.lock(locks, within: options.busyTimeout)
      if !drops.isEmpty { try session.run(drops) }
    }
  }
}

/// The locks on tables that a migration needs.
struct TableLocks {
  /// The kinds of locks, in ascending order. Each conflicts with all that are held by those that write.
  enum Mode {
    /// Others can read.
    case exclusive
    case accessExclusive

    var sql: ServerText {
      switch self {
      case .exclusive: "EXCLUSIVE"
      case .accessExclusive: "ACCESS EXCLUSIVE"
      }
    }
  }

  /// The modes by the server's names of the tables.
  private var modes: [String: Mode] = [:]

  /// In ascending order of the tables, so that programs don't wait for each other.
  var sorted: [(table: String, mode: Mode)] { modes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  mutating func add(_ tables: some Sequence<String>, _ mode: Mode = .accessExclusive) {
    for table in tables.map(ServerText.name) where modes[table] != .accessExclusive { modes[table] = mode }
  }
}

extension ServerPool {
  /// Locks tables whose triggers or constraints change. The caller holds the transaction.
  ///
  /// - Parameter wait: The maximum time of all attempts; nil for that of the options.
  func lock(_ tables: some Sequence<String>, in session: ServerSession, within wait: Duration? = nil) throws {
    var locks = TableLocks()
    locks.add(tables)
    try session.lock(locks, within: wait ?? options.busyTimeout)
  }
}

extension SchemaChange {
  /// Whether triggers of Persist have to be dropped before the change.
  fileprivate var dropsTriggers: Bool {
    switch self {
    case .rebuildTable, .dropColumn: true
    default: false
    }
  }
}

extension ServerSession {
  /// The tables that have triggers of Persist.
  func tablesWithTriggers() throws -> [String] {
    try all(
      """
      SELECT DISTINCT c.relname::text FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_proc AS p ON p.oid = t.tgfoid \
      WHERE n.nspname = \(text: schema) AND NOT t.tgisinternal AND starts_with(p.proname, 'persist')
      """
    ) { $0.text($1, 0) }
  }
}
