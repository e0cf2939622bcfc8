import Foundation
import Persist

/// Reads a store on a server for the planning of a migration, from one state of it.
class ServerInspector: StoreInspector {
  let session: ServerSession
  /// Whether the connection is that of an online migration, which alone changes a store that serves two models.
  var isOnline = false
  var url: URL? { session.url }

  init(_ session: ServerSession) { self.session = session }

  // MARK: The model

  func catalog() throws -> StoreCatalog { try mapped { try StoreCatalog(session) } }

  func isCurrent(_ catalog: StoreCatalog) throws -> Bool {
    let current = try self.catalog()
    return current.mark == catalog.mark && current.entityRows == catalog.entityRows
      && current.record?.modelDigest == catalog.record?.modelDigest
  }

  func identify(among registry: ModelRegistry?, known: StoreCatalog?) throws -> IdentifiedStore {
    let known = try known.flatMap { try isCurrent($0) ? $0 : nil }
    return try mapped { try session.identify(among: registry, known: known) }
  }

  // MARK: The rows

  func count(_ count: RowCount) throws -> Int {
    switch count {
    case .outside(let range, let table, let column, let rows):
      return try number(
        """
        SELECT count(CASE WHEN \(name: column) NOT BETWEEN \(number: range.lowerBound) AND \
        \(number: range.upperBound) THEN 1 END) FROM \(table: table)\(ServerText.condition(rows))
        """)
    // All values are in their rows.
    case .missingFiles, .rejectedNumbers: return 0
    case .otherThanURIs(let table, let column, let rows):
      let texts = ServerText(.texts(in: table, column: column, rows))
      return try mapped { try session.all(texts) { ($0.text($1, 0), Int(clamping: $0.integer($1, 1))) } }
        .filter { !StoredValue.isURI($0.0) }.reduce(0) { $0 + $1.1 }
    case .duplicates(let table, let values, let rows):
      let kinds = try mapped { try columnKinds(of: table) }
      return try number(.duplicates(of: values, in: table, rows, kinds))
    case .parkedOutside(let range, let slot): return try number(.parkedOutside(range, slot: slot))
    case .parkedDuplicates(let slot, let slots, let table, let values, let rows):
      let kinds = try mapped { try columnKinds(of: table) }
      return try number(.parkedDuplicates(slot: slot, slots, of: table, values, rows, kinds))
    case .rows, .unknown, .present, .related, .crowded, .conflicting, .unmatched, .unrelated, .unparked:
      return try number(ServerText(.count(count)))
    }
  }

  func count(_ count: ConditionCount, in map: TableMap) throws -> Int? {
    let terms = ServerTerms(map.serverKinds, tables: count.tables)
    guard let condition = terms.condition(count.condition)?.bounded else { return nil }
    return try number("\(ServerText(count.start))\(condition)")
  }

  func firstNumber(_ sql: SQLText) throws -> Int { try number(ServerText(sql)) }

  private func number(_ sql: ServerText) throws -> Int {
    // The server's sums are decimal numbers.
    try mapped { try session.first("SELECT (\(sql))::bigint") { Int(clamping: $0.integer($1, 0)) } ?? 0 }
  }

  func greatestRow(of table: String) throws -> Int64 {
    let hasKey = try catalog().schema.column("Z_PK", of: table) != nil
    return Int64(
      try number(
        hasKey
          ? "SELECT coalesce(max(id), 0) FROM \(table: table)" : "SELECT count(*) FROM \(table: table)"))
  }

  func forEachFinding(_ step: CheckStep, _ body: (CheckStep.Finding) throws -> Void) throws {
    // The types of the last two columns depend on the step.
    let result = try mapped {
      try session.query(
        "SELECT a::bigint, b::bigint, c::text, d::text, pg_typeof(c)::text, pg_typeof(d)::text "
          + "FROM (\(ServerText(step.sql))) AS found(a, b, c, d) ORDER BY a")
    }
    func value(_ row: Int, _ column: Int) -> SQLValue {
      guard !result.isNull(row, column) else { return .null }
      let text = result.text(row, column)
      switch result.text(row, column + 2) {
      case "smallint", "integer", "bigint": return Int64(text).map { .integer($0) } ?? .text(text)
      case "boolean": return .integer(text == "true" ? 1 : 0)
      case "double precision", "numeric": return Double(text).map { .double($0) } ?? .text(text)
      // In hexadecimal, after a backslash and an x.
      case "bytea": return .blob(Data(count: max(0, text.utf8.count - 2) / 2))
      default: return .text(text)
      }
    }
    for row in 0..<result.rowCount {
      try body(
        CheckStep.Finding(
          row: result.integer(row, 0), entityNumber: result.integer(row, 1), values: (value(row, 2), value(row, 3))))
    }
  }

  func largeValueNames(in table: String, column: String, _ rows: RowCondition) throws -> [String] { [] }
  func requireMigratable() throws { try requireOneModel() }

  /// - Throws: ``PersistenceError/Code/migrationFailed`` if an online migration isn't complete.
  func requireOneModel() throws {
    guard !isOnline, let record = try mapped({ try OnlineRecord(session) }) else { return }
    throw record.exclusion(at: url)
  }

  // MARK: Parked values

  func parkedSlots() throws -> [ParkedSlot] {
    try mapped {
      // The places of parked values depend on the model, of which there are two for now.
      if !isOnline, try session.hasTable(OnlineRecord.table) { return [] }
      guard try session.hasTable(ParkedSlot.Table.slots) else { return [] }
      let hasStates = try session.hasTable(ParkedSlot.Table.states)
      return try session.all(ServerText(.parkedSlots(hasStates: hasStates))) { result, row in
        let column = result.isNull(row, 8) ? "" : result.text(row, 8)
        return ParkedSlot(
          number: Int(clamping: result.integer(row, 0)),
          kind: ParkedSlot.Kind(rawValue: result.text(row, 1)) ?? .attribute, entity: result.text(row, 2),
          property: result.text(row, 3), elements: result.text(row, 4), model: result.text(row, 5),
          version: result.text(row, 6),
          column: column.isEmpty
            ? nil
            : ParkedColumn(
              table: result.text(row, 7), name: column, entityNumber: Int(clamping: result.integer(row, 9))))
      }
    }
  }

  func parkedModel(_ digest: String) throws -> Data? {
    try mapped {
      guard try session.hasTable(ParkedSlot.Table.slots) else { return nil }
      return try session.first(ServerText(.parkedModel(digest))) { $0.data($1, 0) }
    }
  }

  /// The types of a table's columns, by their folded names.
  func columnKinds(of table: String) throws -> ServerText.ColumnKinds {
    let rows = try session.all(
      """
      SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute \
      WHERE attrelid = to_regclass(\(text: ServerText.quoted(table))) AND attnum > 0 AND NOT attisdropped
      """
    ) { (name: $0.text($1, 0), kind: ServerTerms.Kind(typeName: $0.text($1, 1))) }
    let long = try session.all("SELECT short, name FROM \(table: "PERSIST_NAMES")") { ($0.text($1, 0), $0.text($1, 1)) }
    let names = Dictionary(long, uniquingKeysWith: { first, _ in first })
    return Dictionary(
      rows.map { ((names[$0.name] ?? ServerNames.column($0.name, of: table)).foldedIdentifier, $0.kind) },
      uniquingKeysWith: { first, _ in first })
  }

  @discardableResult
  func mapped<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url, during: work)
    }
  }

  /// The work for which the connection is used.
  var work: ServerWork { .reading }
}

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

  init(_ session: ServerSession, _ address: ServerAddress, options: StoreOptions) {
    (self.options, self.address) = (options, address)
    outcome = ServerOutcome(address: address, wait: options.busyTimeout)
    super.init(session)
  }

  override var work: ServerWork { .migrating }

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
          ServerText.exactTexts, ServerText.lock(session.schema), TransactionNumber.reading,
        ], "COMMIT", "ROLLBACK"
      ) : (["SAVEPOINT persist"], "RELEASE SAVEPOINT persist", "ROLLBACK TO SAVEPOINT persist")
    let isOutermost = depth == 0
    let results = try mapped { try session.run(begin) }
    if isOutermost { (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules) = (false, false, nil) }
    depth += 1
    defer { depth -= 1 }
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
    guard depth > 0 else { return try body() }
    let state = (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules)
    return try session.waitingBriefly(within: options.busyTimeout) {
      (hasDroppedKeys, mayHaveWaitingChecks, hasDroppedRules) = state
      return try body()
    }
  }

  private func perform(_ change: SchemaChange) throws {
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
    // Outside of a transaction, nothing waits for its end, and a dropped key wouldn't return.
    guard depth > 0 else { return }
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
  func execute(_ sql: SQLText) throws -> Int {
    try mapped {
      try prepareForChangedRows()
      return try session.execute(ServerText(sql))
    }
  }

  @discardableResult
  func execute(_ statement: ParkedValueStatement) throws -> Int {
    try mapped {
      try prepareForChangedRows()
      if case .dropTriggers = statement { try session.dropTriggerFunctions(withPrefix: ParkedSlot.trigger(of: "")) }
      let statements = try ServerText.statements(statement, kinds: columnKinds)
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
    try mapped {
      try runWaitingChecks()
      // The triggers of both models have maintained them during an online migration.
      try waitingBriefly { try session.makeDerived(columns, in: layout, completed: isOnline) }
      // Derived values are computed for rows that may have been changed before.
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
    try mapped {
      try session.run(statements)
      try runWaitingChecks()
      let map = try StoreCatalog(session).tableMap(of: model)
      try waitingBriefly {
        try ServerForeignKeys(session).update(to: map)
        if hasDroppedRules == true { try ServerRules(session).update(to: ServerRule.all(in: map)) }
      }
      try ServerTableDescription(session, map).write(waitingAtMost: options.busyTimeout)
    }
  }

  func recordMigrationInHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws {
    try mapped {
      try runWaitingChecks()
      let record = try isOnline ? OnlineRecord(session) : nil
      try waitingBriefly {
        try ServerHistoryConnection(session).adaptHistory(from: former, to: map, renames: renames, after: record)
      }
    }
  }
}
