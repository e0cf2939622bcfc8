import Foundation
import Logging
import Persist

extension PostgreSQLStore {
  /// As stored: pending metadata don't show the steps that others performed meanwhile.
  func deferredSteps() throws -> [DeferredStep] { try pool.read { try StoreMetadata($0).deferredSteps } }

  /// Performs deferred steps: each table's columns in a transaction, which changes only the catalog, and each index
  /// beside the work of others.
  ///
  /// If the program ends in between, completed steps remain completed, and the others remain deferred.
  ///
  /// - Parameters:
  ///   - deadline: The time after which no step is started, and until which a step waits for others; nil for none.
  ///   - givingWay: Without effect: others wait for moments at most.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?, givingWay: Bool) throws -> [DeferredStep] {
    var waiting = try deferredSteps()
    guard !waiting.isEmpty else { return [] }
    guard !isReadOnly else { throw PersistenceError.readOnly(url, withDeferredSteps: waiting.count) }
    while let first = waiting.first {
      let rest: [DeferredStep]?
      switch first {
      case .dropColumn(_, let table): rest = try dropColumns(of: table, until: deadline)
      case .createIndex(let name, let table):
        guard try makeIndex(named: name, of: table, until: deadline) else { return waiting }
        rest = try removeSteps(until: deadline) { $0 == first }
      // Only files have steps of this kind.
      case .convertValues: rest = try removeSteps(until: deadline) { $0 == first }
      }
      guard let rest else { break }
      waiting = rest
      if let deadline, ContinuousClock.now >= deadline { break }
    }
    return waiting
  }

  private func dropColumns(of table: String, until deadline: ContinuousClock.Instant?) throws -> [DeferredStep]? {
    try removeSteps(of: table, until: deadline) { step in
      if case .dropColumn(_, table) = step { true } else { false }
    } performing: { steps, schema in
      steps.compactMap { step in
        guard case .dropColumn(let column, _) = step, schema.column(column, of: table) != nil else { return nil }
        return "ALTER TABLE \(table: table) DROP COLUMN \(name: column)"
      }
    }
  }

  /// Removes steps from the store's list, in the transaction that performs them.
  ///
  /// Each attempt waits for moments, since others wait to write meanwhile.
  ///
  /// - Parameters:
  ///   - table: The table that they change; nil for none.
  ///   - deadline: The time after which nothing is attempted again; nil for that of the options.
  /// - Returns: The remaining steps; nil if others used the store or the table until the deadline.
  private func removeSteps(
    of table: String? = nil, until deadline: ContinuousClock.Instant?, _ isDone: (DeferredStep) -> Bool,
    performing statements: ([DeferredStep], StoreSchema) -> [ServerText] = { _, _ in [] }
  ) throws -> [DeferredStep]? {
    let end = deadline ?? .now + busyTimeout
    while true {
      do {
        return try removeStepsAtOnce(of: table, isDone, performing: statements)
      } catch let error as PersistenceError where error.isOfLocks {
        guard ContinuousClock.now < end else {
          if deadline != nil { return nil }
          throw error
        }
        Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.15))
      }
    }
  }

  private func removeStepsAtOnce(
    of table: String?, _ isDone: (DeferredStep) -> Bool,
    performing statements: ([DeferredStep], StoreSchema) -> [ServerText]
  ) throws -> [DeferredStep] {
    try pool.write { transaction in
      // Saves queue behind whoever waits for this lock.
      let wait = ServerText.lockTimeout(min(busyTimeout, ServerSession.briefWait))
      try transaction.run(["SET LOCAL lock_timeout = \(number: wait)", ServerText.lock(pool.address.schema)])
      // Reads the metadata again: another program may have performed some steps, or migrated the store.
      var metadata = try StoreMetadata(transaction.session)
      let done = metadata.deferredSteps.filter(isDone)
      metadata.deferredSteps.removeAll(where: isDone)
      let schema = try StoreSchema(transaction.session)
      if let table, !done.isEmpty, schema.table(named: table) != nil {
        try pool.lock([table], in: transaction.session, within: ServerSession.briefWait)
      }
      transaction.runLast(statements(done, schema) + [try metadata.update()])
      return metadata.deferredSteps
    }
  }

  /// Creates an index without keeping others from writing, which is possible only outside of transactions. It waits for
  /// transactions that can still read earlier states, including those of other stores, and nobody waits for it.
  /// Behind a pooler, which hides for whom it waits, each wait takes as long as the options say at most.
  ///
  /// The server refuses that for a table that was partitioned by hand: others then wait to write to it.
  ///
  /// - Parameter deadline: The time until which it waits for others; nil to wait for as long as they last.
  /// - Returns: False if others lasted longer. The next attempt begins anew.
  private func makeIndex(
    named name: String, of table: String, until deadline: ContinuousClock.Instant?
  ) throws -> Bool {
    guard let index = map.indexDefinitions.first(where: { $0.name == name && $0.table == table }) else { return true }
    let (address, patience) = (pool.address, busyTimeout)
    do {
      // A connection of its own, because its setting outlasts the statement.
      let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: busyTimeout)
      defer { connection.close() }
      let session = ServerSession(connection: connection, schema: address.schema, url: url)
      var isReported = false
      var waitsSince: ContinuousClock.Instant?
      return try session.asking({ obstacle in
        guard let obstacle else {
          waitsSince = nil
          return true
        }
        let since = waitsSince ?? .now
        waitsSince = since
        if !isReported {
          Logger(label: "persist.postgresql").notice("The index '\(name)' is created once this has ended: \(obstacle).")
        }
        isReported = true
        // An index that is nearly complete isn't discarded for a transaction of a moment.
        return deadline.map { ContinuousClock.now < max($0, since + patience) } ?? true
      }, at: address, every: .milliseconds(100)) {
        try session.repeating { try session.makeConcurrently(index, blockingAtMost: busyTimeout) }
      }
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url)
    }
  }
}

extension ServerSession {
  /// Creates an index without keeping others from writing, unless a valid one is there. The session has no transaction.
  ///
  /// It waits for the transactions of others for as long as they last, except if the table is partitioned, or if a
  /// pooler hides whom it waits for.
  ///
  /// - Parameter limit: The maximum time of all attempts to lock a partitioned table, for whose index others wait, and
  ///   of a wait behind a pooler.
  func makeConcurrently(_ index: IndexDefinition, blockingAtMost limit: Duration) throws {
    let isPartitioned = try first(
      """
      SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: schema) AND c.relname = \(text: ServerText.name(index.table)) AND c.relkind = 'p'
      """
    ) { $0.integer($1, 0) == 1 } ?? false
    let wait: Duration? = isPartitioned ? min(limit, Self.briefWait) : connection.isPooled ? limit : nil
    try run(["SET lock_timeout = \(number: wait.map(ServerText.lockTimeout) ?? 0)"])
    // Resets the setting, because a pooler's connection outlives its use by this program.
    defer { _ = try? run(["RESET lock_timeout"]) }
    let deadline = ContinuousClock.now + limit
    while true {
      do {
        let isValid = try self.isValid(index)
        // An attempt that failed leaves an index that is only maintained.
        if isValid == false {
          try run(["DROP INDEX \(isPartitioned ? "" : "CONCURRENTLY ")IF EXISTS \(table: index.name)"])
        }
        if isValid != true { try run([ServerText.create(index, concurrently: !isPartitioned)]) }
        break
      } catch let failure as ServerFailure where failure.isOfLock && ContinuousClock.now < deadline {
        Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.15))
      }
    }
    if let record = ServerText.record(name: index.name) { try run([record]) }
  }

  /// Whether an index can be used; nil if there is none.
  private func isValid(_ index: IndexDefinition) throws -> Bool? {
    try first(
      """
      SELECT i.indisvalid::int::bigint FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid \
      JOIN pg_namespace AS n ON n.oid = x.relnamespace \
      WHERE n.nspname = \(text: schema) AND x.relname = \(text: ServerText.name(index.name))
      """
    ) { $0.integer($1, 0) == 1 }
  }
}
