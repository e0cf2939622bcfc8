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
  ///   - deadline: The time after which no step is started; nil for none.
  ///   - givingWay: Without effect: no step has others wait for it.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?, givingWay: Bool) throws -> [DeferredStep] {
    var waiting = try deferredSteps()
    guard !waiting.isEmpty else { return [] }
    guard !isReadOnly else { throw PersistenceError.readOnly(url, withDeferredSteps: waiting.count) }
    while let first = waiting.first {
      switch first {
      case .dropColumn(_, let table): waiting = try dropColumns(of: table)
      case .createIndex(let name, let table):
        try makeIndex(named: name, of: table)
        waiting = try removeSteps { $0 == first }
      // Only files have such steps.
      case .convertValues: waiting = try removeSteps { $0 == first }
      }
      if let deadline, ContinuousClock.now >= deadline { break }
    }
    return waiting
  }

  /// - Returns: The remaining steps.
  private func dropColumns(of table: String) throws -> [DeferredStep] {
    try removeSteps(of: table) { step in
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
  /// - Parameter table: The table that they change; nil for none.
  /// - Returns: The remaining steps.
  private func removeSteps(
    of table: String? = nil, _ isDone: (DeferredStep) -> Bool,
    performing statements: ([DeferredStep], StoreSchema) -> [ServerText] = { _, _ in [] }
  ) throws -> [DeferredStep] {
    try pool.write { transaction in
      try transaction.run([ServerText.lock(pool.address.schema)])
      // Read now: another program may have performed some steps, or migrated the store.
      var metadata = try StoreMetadata(transaction.session)
      let done = metadata.deferredSteps.filter(isDone)
      metadata.deferredSteps.removeAll(where: isDone)
      let schema = try StoreSchema(transaction.session)
      if let table, !done.isEmpty, schema.table(named: table) != nil { try pool.lock([table], in: transaction.session) }
      transaction.runLast(statements(done, schema) + [try metadata.update()])
      return metadata.deferredSteps
    }
  }

  /// Creates an index without keeping others from writing, which is possible only outside of transactions. It waits for
  /// transactions that can still read earlier states, including those of other stores.
  ///
  /// The server refuses that for a table that was partitioned by hand: others then wait to write to it.
  private func makeIndex(named name: String, of table: String) throws {
    guard let index = map.indexDefinitions.first(where: { $0.name == name && $0.table == table }) else { return }
    let address = pool.address
    do {
      // A connection of its own, because its setting outlasts the statement.
      let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: busyTimeout)
      defer { connection.close() }
      let session = ServerSession(connection: connection, schema: address.schema, url: url)
      try session.repeating { try session.makeConcurrently(index, waitingAtMost: busyTimeout) }
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url)
    }
  }
}

extension ServerSession {
  /// Creates an index without keeping others from writing, unless a valid one is there. The session has no transaction.
  ///
  /// - Parameter wait: The maximum time to wait for a transaction of others; nil for as long as it lasts.
  func makeConcurrently(_ index: IndexDefinition, waitingAtMost wait: Duration?) throws {
    let isValid = try first(
      """
      SELECT i.indisvalid::int::bigint FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid \
      JOIN pg_namespace AS n ON n.oid = x.relnamespace \
      WHERE n.nspname = \(text: schema) AND x.relname = \(text: ServerText.name(index.name))
      """
    ) { $0.integer($1, 0) == 1 }
    if isValid == true { return }
    let isPartitioned = try first(
      """
      SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: schema) AND c.relname = \(text: ServerText.name(index.table)) AND c.relkind = 'p'
      """
    ) { $0.integer($1, 0) == 1 } ?? false
    try run(["SET lock_timeout = \(number: wait.map(ServerText.lockTimeout) ?? 0)"])
    // With a pooler, the connection outlives its use by this program.
    defer { _ = try? run(["RESET lock_timeout"]) }
    // An attempt that failed leaves an index that is only maintained.
    if isValid == false { try run(["DROP INDEX \(isPartitioned ? "" : "CONCURRENTLY ")\(table: index.name)"]) }
    try run([ServerText.create(index, concurrently: !isPartitioned)])
    if let record = ServerText.record(name: index.name) { try run([record]) }
  }
}
