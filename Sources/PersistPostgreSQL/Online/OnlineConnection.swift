package import Foundation
package import Persist

/// The connection of an online migration: its statements, each of which holds locks for moments only.
///
/// Transactions that change tables wait for locks for at most ``ServerSession/briefWait``, so that nobody queues behind
/// them for longer, and are repeated until the time of the options is over.
package final class OnlineConnection {
  let address: ServerAddress
  let options: StoreOptions
  let session: ServerSession
  private let connection: ServerMigrationConnection
  package var url: URL? { session.url }

  /// - Throws: ``PersistenceError/Code/storeTypeMismatch`` for a store that isn't on a server.
  package init(to location: StoreLocation, options: StoreOptions) throws {
    self.options = options
    let engine = PostgreSQLEngine()
    address = try engine.address(location)
    do {
      session = ServerSession(
        connection: try ServerDrivers.current.connect(to: address, waitingAtMost: options.busyTimeout),
        schema: address.schema, url: address.url(showingSecrets: false))
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: address.url(showingSecrets: false))
    }
    var brief = options
    brief.busyTimeout = min(options.busyTimeout, ServerSession.briefWait)
    connection = ServerMigrationConnection(session, address, options: brief)
    connection.isOnline = true
  }

  deinit { close() }

  package func close() { session.connection.close() }

  func mapped<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: session.url, during: .migrating)
    }
  }

  // MARK: Reading

  /// Runs `body` in a transaction that sees one state.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    try mapped { try session.readTransaction { _ in try body() } }
  }

  /// The rows, for counting; within a transaction.
  package var inspector: any StoreInspector { connection }

  /// The record of the online migration; nil if there is none.
  package func record() throws -> OnlineRecord? { try mapped { try OnlineRecord(session) } }

  /// The catalog of the first model.
  package func catalog() throws -> StoreCatalog { try mapped { try StoreCatalog(session) } }

  /// The catalog of the second model; nil if the store has no record of it.
  package func catalog(ofSecond model: ManagedObjectModel) throws -> StoreCatalog? {
    try mapped { try StoreCatalog(session).serving(model, session) }
  }

  /// Identifies the store's first model.
  package func identify(among registry: ModelRegistry?) throws -> IdentifiedStore {
    try mapped { try session.identify(among: registry) }
  }

  /// The programs that use the store with a model, in words.
  package func programs(with model: ManagedObjectModel) throws -> [String] {
    try mapped { try ServerPresence.programs(with: model, session) }
  }

  /// An obstacle, in sentences.
  package struct Obstacle: Sendable {
    package let reason: String
    /// The advice that removes it.
    package let fix: String
  }

  /// Obstacles of the store itself, apart from its models.
  package func obstacles(_ catalog: StoreCatalog) throws -> [Obstacle] {
    try mapped {
      var found: [Obstacle] = []
      let rules = try session.first(
        """
        SELECT 1 FROM pg_constraint AS k JOIN pg_namespace AS n ON n.oid = k.connamespace \
        WHERE n.nspname = \(text: session.schema) AND k.contype = 'c' \
        AND starts_with(k.conname, \(literal: ServerRule.prefix))
        """
      ) { _, _ in true }
      if rules == true {
        found.append(
          Obstacle(
            reason: "The server enforces the validation rules of the first model, which the second may not have.",
            fix: "Open the store without 'enforcesValidation', and drop the check constraints whose names begin with "
              + "'\(ServerRule.prefix)'; enforce the rules again after the migration."))
      }
      let steps = catalog.metadata.deferredSteps.count
      if steps > 0 {
        found.append(
          Obstacle(
            reason: "An earlier migration has deferred \(Measure.count(steps, "step")).",
            fix: "Complete them first, with 'finishDeferredMigration' of a program that has the store open."))
      }
      return found
    }
  }

  // MARK: Changing

  /// Runs a transaction that excludes other migrations, and again if it had to wait for others for too long.
  ///
  /// - Parameter willRetry: Called before each further attempt.
  package func transaction<T>(_ willRetry: () -> Void = {}, _ body: (any MigrationConnection) throws -> T) throws -> T {
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      do {
        return try connection.transaction { try body(connection) }
      } catch let error as PersistenceError where error.isOfLocks && ContinuousClock.now < deadline {
        willRetry()
        Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.15))
      }
    }
  }

  /// Runs a transaction that changes parked values alone, so that all foreign keys remain.
  package func transactionOnParkedValues<T>(_ body: (any MigrationConnection) throws -> T) throws -> T {
    connection.keepsForeignKeys = true
    defer { connection.keepsForeignKeys = false }
    return try transaction({}, body)
  }

  /// Creates the places of the second model, and what keeps them in step. Called within a transaction.
  package func expand(
    _ expansion: OnlineExpansion, record: OnlineRecord, maps: (first: TableMap, second: TableMap)
  ) throws {
    try mapped {
      try session.run(OnlineStatements.places(of: expansion, for: maps.second.model))
      let derived = OnlineTriggers.derived(
        maps.first, maps.second, during: expansion, partitioned: try session.partitionedTables())
      if !derived.isEmpty { try session.run(ServerText.derivedFunctions + derived.flatMap(\.statements)) }
      let metadata = try StoreMetadata(session)
      try session.run(try record.creation(maps.second.model, metadata) + ServerMark.renewal)
      guard let catalog = try StoreCatalog(session).serving(maps.second.model, session) else {
        throw PersistenceError(
          .migrationFailed, at: .store(url), "The second model of the store can't be read back.",
          fix: "This is a defect of Persist; please report it with both models.")
      }
      let differences = catalog.tableMap(of: maps.second.model).differences
      guard differences.isEmpty else {
        throw PersistenceError(
          .migrationFailed, at: .store(url),
          "The expanded store wouldn't have matched the new model, so nothing was changed: "
            + differences.joined(separator: " "),
          fix: "This is a defect of Persist; please report it with both models.")
      }
      let map = catalog.tableMap(of: maps.second.model)
      if let history = try HistoryExpansion(session, catalog, for: map) {
        try ServerHistoryConnection(session).expand(history)
      }
    }
  }

  /// Creates the foreign keys that the store lacks, without checking older rows. Called within a transaction, after
  /// parked values were restored: that drops keys which rows may violate.
  package func add(_ keys: [ForeignKeyDefinition]) throws {
    try mapped {
      let present = try session.all(
        """
        SELECT c.relname::text, k.conname::text FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid \
        JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE k.contype = 'f' AND n.nspname = \(text: session.schema)
        """
      ) { [$0.text($1, 0), $0.text($1, 1)] }
      let missing = keys.filter { !present.contains([ServerText.name($0.table), ServerText.name(of: $0)]) }
      guard !missing.isEmpty else { return }
      try session.run(
        ["SET CONSTRAINTS ALL IMMEDIATE"] + missing.map { ServerText.create($0, checkingRows: false) }
          + ["SET CONSTRAINTS ALL DEFERRED"])
    }
  }

  /// Records that the second model is served, and lets programs notice.
  package func write(_ record: OnlineRecord) throws {
    _ = try mapped { try session.run([try record.update()] + ServerMark.renewal) }
  }

  /// Reduces the entries of the store's history to one of the models. Called within the transaction that returns the
  /// store to it, before tables are locked.
  package func contractHistory(from other: TableMap, to map: TableMap, _ record: OnlineRecord) throws {
    try mapped { try ServerHistoryConnection(session).contractEntries(from: other, to: map, record) }
  }

  /// Locks the tables from which something will be removed together with those of the other changes. Called before
  /// these.
  package func willRemove(_ remains: OnlineRemains) { connection.remains = remains }

  /// Deletes unneeded tables, columns and indexes, and the record, at once. Called at the end of the transaction that
  /// returns the store to one model.
  package func remove(_ remains: OnlineRemains) throws {
    let schema = try connection.catalog().schema
    try mapped {
      let indexes = Set(schema.indexes.map { ServerText.name($0.name) })
      func isPresent(_ index: String) -> Bool { indexes.contains(ServerText.name(index)) }
      var statements = remains.indexes.filter(isPresent).map { "DROP INDEX \(table: $0)" as ServerText }
      let columns = remains.columns.filter { schema.column($0.column, of: $0.table) != nil }
      for (table, columns) in Dictionary(grouping: columns, by: \.table).sorted(by: { $0.key < $1.key }) {
        let drops = columns.map { "DROP COLUMN \(name: $0.column)" as ServerText }
        statements.append("ALTER TABLE \(table: table) \(drops.joined(separator: ", "))")
      }
      let tables = remains.tables.filter { schema.table(named: $0) != nil }
      if !tables.isEmpty {
        let names = tables.map { "\(table: $0)" as ServerText }
        statements.append("DROP TABLE \(names.joined(separator: ", "))")
        statements += tables.map { ServerText.dropKeySequence(of: $0) }
      }
      for (temporary, name) in remains.finalNames.sorted(by: { $0.key < $1.key }) where isPresent(temporary) {
        statements.append("ALTER INDEX \(table: temporary) RENAME TO \(name: name)")
      }
      try session.run(statements + [OnlineRecord.deletion])
    }
  }

  /// Deletes the triggers before tables and columns change. Called within the transaction.
  package func dropTriggers() throws {
    try mapped { try session.dropTriggerFunctions(withPrefix: OnlineTriggers.prefix) }
  }

  /// Deletes columns and tables that no program has used, and renews the store's mark. Called within the transaction.
  package func drop(columns: [(table: String, column: String)]) throws {
    _ = try mapped {
      try session.run(
        columns.map { "ALTER TABLE \(table: $0.table) DROP COLUMN \(name: $0.column)" } + ServerMark.renewal)
    }
  }

  /// Drops indexes of the other model. Called within the transaction.
  package func drop(indexes: [String]) throws {
    guard !indexes.isEmpty else { return }
    _ = try mapped { try session.run(indexes.map { "DROP INDEX IF EXISTS \(table: $0)" }) }
  }

  /// The approximate number of rows of a table.
  package func rowCount(of table: String) throws -> Int64 { try connection.approximateRowCount(of: table) }

  /// Lets the triggers take the further statements of the transaction for those of programs with a model.
  package func announce(_ model: ManagedObjectModel) throws {
    let digest = ServerPresence.digest(of: model)
    _ = try mapped { try session.run(["SELECT \(OnlineTriggers.announcement(of: digest))"]) }
  }
}
