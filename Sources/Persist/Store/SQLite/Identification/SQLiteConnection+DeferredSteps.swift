import Foundation

/// The deferred steps that SQLite performs in one piece.
extension SQLiteConnection {
  /// Prepares a connection that performs nothing else.
  ///
  /// At the end of a step, others wait for the commit. It neither waits for the disk, unless saves do, nor writes the
  /// log into the file, and has few pages left to write.
  func prepareForSteps(_ options: StoreOptions) throws {
    try prepareForChanges()
    try setSynchronous(options)
    try execute(.leaveLog)
  }

  /// Writes the log into the file beside other writers, which would otherwise do so with their next commits: after a
  /// step, it may be as large as the table.
  ///
  /// Readers of earlier states keep a part in the log as long as they read.
  func transferWholeLog() throws {
    for attempt in 0..<20 {
      if attempt > 0 { Thread.sleep(forTimeInterval: 0.005) }
      let rest = try first(.transferLog) { $0.integer(1) - $0.integer(2) } ?? 0
      if rest <= 0 { return }
    }
  }

  /// Writes a page that remains as it is. If the whole log was written into the file, and nobody reads from it, this
  /// begins the log anew and shortens its file.
  func beginLogAnew(ofSize size: Int64) throws {
    try execute(.limitLog(toSize: size))
    try transaction {
      try execute(.setUserVersion(first(.userVersion) { $0.integer(0) } ?? 0))
    }
  }

  /// Performs a step; the caller holds the transaction.
  ///
  /// - Parameters:
  ///   - number: The number of the step, from which as many are subtracted as there are.
  ///   - map: The layout of the store's model.
  ///   - givingWay: Whether the statement may be ended early. Otherwise, all columns of a table are dropped at once.
  /// - Returns: The remaining steps.
  func finishStep(_ number: Int, of map: TableMap, givingWay: Bool) throws -> [DeferredStep] {
    // Read within the transaction: another process may have performed some steps, or migrated the store.
    var metadata = try StoreMetadata(self)
    let steps = metadata.deferredSteps
    guard !steps.isEmpty, !steps.hasConversions else { return steps }
    let schema = try StoreSchema(self)
    let step = steps[number % steps.count]
    var done = [step]
    switch step {
    case .convertValues: return steps
    case .dropColumn(_, let table):
      if !givingWay || !Self.canDropColumns {
        done = steps.filter { if case .dropColumn(_, table) = $0 { true } else { false } }
      }
      let columns = done.compactMap { step -> String? in
        guard case .dropColumn(let column, _) = step, schema.hasColumn(column, of: table) else { return nil }
        return column
      }
      try execute(.cacheForTable)
      for change in schema.dropping(columns, of: table, in: map) { try apply(change) }
    case .createIndex(let name, let table):
      if let index = map.indexDefinitions.first(where: { $0.name == name && $0.table == table }),
        !schema.indexes.contains(where: { $0.name.foldedIdentifier == name.foldedIdentifier })
      {
        try execute(.cacheForIndex)
        try apply(.createIndex(index))
      }
    }
    metadata.deferredSteps.removeAll { done.contains($0) }
    try metadata.write(to: self)
    return metadata.deferredSteps
  }
}

extension StoreSchema {
  /// Drops a single column directly; several are omitted by rewriting the table once.
  fileprivate func dropping(_ columns: [String], of table: String, in map: TableMap) -> [SchemaChange] {
    guard columns.count > (SQLiteConnection.canDropColumns ? 1 : 0),
      let definition = map.tableDefinitions.first(where: { $0.name == table }), let real = self.table(named: table)
    else { return columns.map { .dropColumn($0, table: table) } }
    let gone = Set((columns + definition.columns.map(\.name)).map(\.foldedIdentifier))
    return [
      .rebuildTable(
        TableRebuild(
          definition: definition, former: real.columns,
          kept: real.columns.filter { !gone.contains($0.name.foldedIdentifier) },
          values: definition.columns.map { .init($0.name, .column($0.name)) }, temporaryName: "PERSIST_REBUILT"))
    ]
  }
}
