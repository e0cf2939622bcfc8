import Foundation

extension DeferredStep {
  /// Nil for a change that can't wait.
  init?(_ change: SchemaChange) {
    switch change {
    case .dropColumn(let column, let table): self = .dropColumn(column, table: table)
    case .createIndex(let index): self = .createIndex(index.name, table: index.table)
    default: return nil
    }
  }
}

extension SQLiteStore {
  // From the file: metadata that are still to be written know nothing of what was done meanwhile.
  func deferredSteps() throws -> [DeferredStep] { try pool.readOnce { try StoreMetadata($0).deferredSteps } }

  /// Carries out steps that wait, each table's columns and each index in a transaction of its own, which others wait
  /// for.
  ///
  /// Killed in between, the steps that are done are done, and the others still wait.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?) throws -> [DeferredStep] {
    var waiting = try deferredSteps()
    guard !waiting.isEmpty, let url else { return [] }
    guard !isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only, and \(waiting.count) steps wait.",
        fix: "Open it without isReadOnly to finish its migration.")
    }
    // One that is used for nothing else: its triggers are off.
    let connection = try SQLiteConnection(url, mode: .readWrite, options: pool.options)
    defer { connection.close() }
    try connection.prepareForChanges()
    repeat {
      waiting = try connection.transaction {
        try pool.watch?.check(connection)
        return try connection.finishNextDeferredSteps(of: map)
      }
    } while !waiting.isEmpty && deadline.map { ContinuousClock.now < $0 } != false
    return waiting
  }
}

extension SQLiteConnection {
  /// Carries out what waits for one table, or one index; the caller holds the transaction.
  ///
  /// - Parameter map: where everything of the store's model stands.
  /// - Returns: what still waits.
  fileprivate func finishNextDeferredSteps(of map: TableMap) throws -> [DeferredStep] {
    // Read now: another process may have done some of it, or migrated the store.
    var metadata = try StoreMetadata(self)
    guard let first = metadata.deferredSteps.first else { return [] }
    let schema = try StoreSchema(self)
    switch first {
    case .dropColumn(_, let table):
      let columns = metadata.deferredSteps.compactMap { step -> String? in
        guard case .dropColumn(let column, table) = step, schema.column(column, of: table) != nil else { return nil }
        return column
      }
      for change in schema.dropping(columns, of: table, in: map) { try apply(change) }
      metadata.deferredSteps.removeAll { if case .dropColumn(_, table) = $0 { true } else { false } }
    case .createIndex(let name, let table):
      if let index = map.indexDefinitions.first(where: { $0.name == name && $0.table == table }),
        !schema.indexes.contains(where: { $0.name.foldedIdentifier == name.foldedIdentifier })
      {
        try apply(.createIndex(index))
      }
      metadata.deferredSteps.removeFirst()
    }
    try metadata.write(to: self)
    return metadata.deferredSteps
  }
}

extension StoreSchema {
  /// One column is dropped; several are left out while the table is written anew once.
  fileprivate func dropping(_ columns: [String], of table: String, in map: TableMap) -> [SchemaChange] {
    guard columns.count > (SQLiteConnection.canDropColumns ? 1 : 0),
      let definition = map.tableDefinitions.first(where: { $0.name == table }), let real = self.table(named: table)
    else { return columns.map { .dropColumn($0, table: table) } }
    let gone = Set((columns + definition.columns.map(\.name)).map(\.foldedIdentifier))
    return [
      .rebuildTable(
        TableRebuild(
          definition: definition, kept: real.columns.filter { !gone.contains($0.name.foldedIdentifier) },
          values: definition.columns.map { .init($0.name, .column($0.name)) }, temporaryName: "PERSIST_REBUILT"))
    ]
  }
}
