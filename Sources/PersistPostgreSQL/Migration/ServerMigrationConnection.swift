import Foundation
import Persist

/// The connection that changes a store on a server.
final class ServerMigrationConnection: ServerInspector, MigrationConnection {
  let options: StoreOptions
  private let outcome: ServerOutcome
  let address: ServerAddress
  private var depth = 0
  /// Whether constraints for validation rules were dropped in the outermost transaction; nil if it hasn't changed
  /// anything yet.
  private var hasDroppedRules: Bool?
  /// Whether the foreign keys were dropped in the outermost transaction.
  private var hasDroppedKeys = false
  /// Whether checks of foreign keys may wait for the end of the outermost transaction.
  private var mayHaveWaitingChecks = false
  /// The means of asking for the outcome of the outermost transaction.
  private var evidence: ServerOutcome.Evidence?
  private let proofs = CommitProofs()
  /// Observes the running change; nil if nobody asks for its progress.
  var observer: ServerChangeObserver?
  /// The catalog, as long as the outermost transaction hasn't changed it.
  var knownCatalog: StoreCatalog?
  /// Whether only parked values change, so that all foreign keys remain.
  var keepsForeignKeys = false
  /// The places that the end of an online migration deletes after the changes.
  var remains = OnlineRemains()

  init(_ session: ServerSession, _ address: ServerAddress, options: StoreOptions) {
    (self.options, self.address) = (options, address)
    outcome = ServerOutcome(address: address, wait: options.busyTimeout)
    super.init(session)
  }

  override var work: ServerWork { .migrating }

  /// Within a transaction, no other program changes the store, so that the catalog is read once between two changes.
  override func catalog() throws -> StoreCatalog {
    if let knownCatalog { return knownCatalog }
    let catalog = try super.catalog()
    if depth > 0 { knownCatalog = catalog }
    return catalog
  }

  func prepareForMigration() throws {}
  func close() { session.connection.close() }

  /// The outermost transaction holds the lock of programs that create or migrate the store: the first migrates, and the
  /// others find it done.
  @discardableResult
  func transaction<T>(_ body: () throws -> T) throws -> T {
    let (begin, end, cancel): ([ServerText], ServerText, ServerText) =
      depth == 0
      ? (
        [
          ServerTransaction.begin, "SET LOCAL search_path TO \(schema: ()), pg_temp", ServerText.plainNames,
          "SET LOCAL lock_timeout = \(number: ServerText.lockTimeout(options.busyTimeout))",
          ServerText.exactTexts,
        ] + (isOnline ? [ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: true)] : [])
          + [ServerText.lock(session.schema), TransactionNumber.reading], "COMMIT", "ROLLBACK"
      ) : (["SAVEPOINT persist"], "RELEASE SAVEPOINT persist", "ROLLBACK TO SAVEPOINT persist")
    let isOutermost = depth == 0
    let results: [any ServerResult]
    do { results = try mapped { try session.run(begin) } } catch {
      // It has begun, and then waited too long for the lock.
      if isOutermost { session.rollBack() }
      throw error
    }
    if isOutermost { (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules) = (false, false, nil) }
    knownCatalog = nil
    depth += 1
    defer {
      depth -= 1
      knownCatalog = nil
    }
    do {
      if isOutermost {
        evidence = try mapped { try session.evidence(proofs.next(), or: TransactionNumber(results.last)) }
      }
      let result = try body()
      try mapped {
        guard isOutermost, let evidence else {
          try session.run([end])
          return
        }
        try outcome.committing(evidence) { try session.run([end]) }
      }
      return result
    } catch {
      // A connection that was lost has rolled back by itself.
      _ = try? session.run([cancel])
      throw error
    }
  }

  func apply(_ change: SchemaChange) throws {
    try mapped {
      try change.changesTables || change.movesRows
        ? waitingBriefly { try perform(change) } : perform(change)
    }
  }

  /// Runs statements that change tables, and again if they would wait for too long.
  private func waitingBriefly<T>(_ body: () throws -> T) throws -> T {
    // An online migration waits briefly for each lock, and begins the whole transaction again.
    guard depth > 0, !isOnline else { return try body() }
    let state = (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules)
    return try session.waitingBriefly(within: options.busyTimeout) {
      (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules) = state
      return try body()
    }
  }

  private func perform(_ change: SchemaChange) throws {
    knownCatalog = nil
    try dropRules()
    // Validating the keys again at the end takes less time than checking each row, and rows may be in their new
    // places only then.
    if change.movesRows, !hasDroppedKeys {
      try ServerForeignKeys(session).drop()
      hasDroppedKeys = true
    }
    try change.changesTables ? runWaitingChecks() : prepareForChangedRows()
    // Columns that a trigger depends on can't get another type; the triggers are created anew at the end.
    switch change {
    case _ where isOnline: break
    case .rebuildTable:
      try session.dropDerived()
      try session.dropOldValueTriggers()
    case .dropColumn: try session.dropOldValueTriggers()
    default: break
    }
    let statements = try ServerText.statements(change, kinds: columnKinds)
    do { try run(statements, of: change) } catch let failure as ServerFailure where failure.state == "0A000" {
      // A view, a rule or a trigger of others uses a column that gets another type.
      throw ServerFailure(state: "2BP01", message: failure.message)
    }
  }

  /// Drops the constraints for validation rules before the first change: new rules apply only to its result.
  private func dropRules() throws {
    guard depth > 0, hasDroppedRules == nil else { return }
    hasDroppedRules = try ServerRules(session).drop()
  }

  /// Called before rows are changed.
  private func prepareForChangedRows() throws {
    // Outside of a transaction, no checks are pending, and no rollback would bring a dropped key back.
    guard depth > 0, !keepsForeignKeys else { return }
    try dropRules()
    if !mayHaveWaitingChecks, !hasDroppedKeys { try ServerForeignKeys(session).dropInvalid() }
    mayHaveWaitingChecks = true
  }

  /// Runs the checks of foreign keys that wait for the end of the transaction: until then, the server refuses to change
  /// the tables in question, their indexes and their triggers.
  ///
  /// A second change of the same row waits for a check even if it leaves the keys as they are. Keys that don't hold in
  /// between were dropped.
  private func runWaitingChecks() throws {
    guard mayHaveWaitingChecks else { return }
    try session.run(["SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED"])
    mayHaveWaitingChecks = false
  }

  @discardableResult
  func execute(_ sql: SharedSQL) throws -> Int {
    knownCatalog = nil
    return try mapped {
      try prepareForChangedRows()
      return try session.execute(ServerText(sql))
    }
  }

  @discardableResult
  func execute(_ statement: ParkedValueStatement) throws -> Int {
    knownCatalog = nil
    return try mapped {
      try prepareForChangedRows()
      if case .dropTriggers = statement { try session.dropTriggerFunctions(withPrefix: ParkedSlot.trigger(of: "")) }
      let statements = try ServerText.statements(statement, kinds: columnKinds, skipsEqual: isOnline)
      return try session.run(statements).last?.changedRowCount ?? 0
    }
  }

  // MARK: Indexes and triggers

  /// Texts are searched in memory.
  func intactFullTextIndexes(among indexes: Set<FullTextIndex>) throws -> Set<FullTextIndex> { [] }
  func updateFullTextIndexes(_ wanted: Set<FullTextIndex>, trusting trusted: Set<FullTextIndex>) throws {}

  /// No other program's triggers maintain derived attributes on a server, so that all are computed anyway.
  func updateDerivedTriggers(
    _ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]], after changed: Set<String>
  ) throws {
    // The triggers of an online migration were dropped before the changes.
    let derived = try isOnline ? [] : catalog().schema.derivedTriggers
    knownCatalog = nil
    try mapped {
      try runWaitingChecks()
      // During an online migration, the triggers of both models have kept derived values up to date.
      try waitingBriefly { try session.makeDerived(columns, replacing: derived, in: layout, completed: isOnline) }
      // Computing derived values updates rows that this transaction may have changed before, so their checks wait.
      mayHaveWaitingChecks = true
    }
  }

  // MARK: The model

  var schemaVersion: Int64 { get throws { try catalog().mark.schemaVersion } }
  /// Programs that have the store open notice the mark of the recorded model.
  func changeSchemaVersion() throws {}

  func record(_ metadata: StoreMetadata, model: ManagedObjectModel, coreDataHashes: [String: Data]?) throws {
    var metadata = metadata
    metadata.setModel(
      versionHashes: model.fingerprints.mapValues(\.bytes), versionIdentifiers: model.versionIdentifiers)
    try write(metadata, model)
  }

  func stamp(_ metadata: StoreMetadata, model: ManagedObjectModel) throws {
    var metadata = metadata
    metadata.setModel(versionHashes: metadata.versionHashes, versionIdentifiers: model.versionIdentifiers)
    try write(metadata, model)
  }

  private func write(_ metadata: StoreMetadata, _ model: ManagedObjectModel) throws {
    try requireOneModel()
    let statements = try [metadata.update()] + metadata.record(model)
    knownCatalog = nil
    try mapped { try session.run(statements) }
    let map = try catalog().tableMap(of: model)
    try mapped {
      try runWaitingChecks()
      try waitingBriefly {
        try ServerForeignKeys(session).update(to: map)
        if hasDroppedRules == true { try ServerRules(session).update(to: ServerRule.all(in: map)) }
      }
      try ServerTableDescription(session, map).write(waitingAtMost: options.busyTimeout)
    }
  }

  func recordMigrationInHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws {
    if isOnline, try HistoryLayout(catalog().schema) == nil { return }
    knownCatalog = nil
    try mapped {
      try runWaitingChecks()
      let record = try isOnline ? OnlineRecord(session) : nil
      try waitingBriefly {
        try ServerHistoryConnection(session).adaptHistory(from: former, to: map, renames: renames, after: record)
      }
    }
  }
}
