import Foundation
import Synchronization

extension SQLiteStore {
  // Read from the file: pending metadata don't reflect steps performed in the meantime.
  func deferredSteps() throws -> [DeferredStep] { try pool.readOnce { try StoreMetadata($0).deferredSteps } }

  /// Performs deferred steps: converts rows in short transactions, and then drops each table's columns and creates each
  /// index in a separate transaction, which other writers wait for.
  ///
  /// If the process is killed in between, completed steps remain completed, and the others remain deferred.
  func finishDeferredSteps(until deadline: ContinuousClock.Instant?) throws -> [DeferredStep] {
    var waiting = try deferredSteps()
    guard !waiting.isEmpty, let url else { return [] }
    guard !isReadOnly else { throw PersistenceError.readOnly(url, withDeferredSteps: waiting.count) }
    if waiting.contains(where: { if case .convertValues = $0 { true } else { false } }) {
      waiting = try convertRows(of: url, until: deadline)
      guard !waiting.isEmpty, deadline.map({ ContinuousClock.now < $0 }) != false else { return waiting }
    }
    // A dedicated connection, because its triggers are disabled.
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

  /// Converts rows, if there are any to convert, at least once.
  ///
  /// - Returns: The remaining steps.
  private func convertRows(of url: URL, until deadline: ContinuousClock.Instant?) throws -> [DeferredStep] {
    var pace = ConversionPace()
    var log = try ConversionLog(url, pool.options)
    defer { log.close() }
    while true {
      var start = ContinuousClock.now
      let metadata = try pool.write { connection in
        // Without the wait for the turn to write.
        start = .now
        return try connection.convertNextRows(pace.count)
      }
      pace.adapt(to: .now - start)
      try log.addPart()
      guard metadata.hasConversions, deadline.map({ ContinuousClock.now < $0 }) != false else {
        return metadata.deferredSteps
      }
      Thread.sleep(forTimeInterval: pace.pause / .seconds(1))
    }
  }

  /// Whether the rows of a table are being converted. Nearly no store needs a statement for the answer.
  func isConverting(_ table: String, _ connection: SQLiteConnection) throws -> Bool {
    try mayConvertRows.load(ordering: .relaxed) && connection.isConverting(table)
  }

  /// Converts the remaining rows of a table at once, for a statement that SQLite refuses for views.
  func finishConversion(of table: String, _ connection: SQLiteConnection) throws {
    guard try isConverting(table, connection) else { return }
    while try connection.convertNextRows(.max).isConverting(table) {}
  }
}

extension SQLiteConnection {
  /// Performs the deferred steps for one table, or one index; the caller holds the transaction.
  ///
  /// - Parameter map: The layout of the store's model.
  /// - Returns: The remaining steps.
  fileprivate func finishNextDeferredSteps(of map: TableMap) throws -> [DeferredStep] {
    // Read within the transaction: another process may have performed some steps, or migrated the store.
    var metadata = try StoreMetadata(self)
    guard let first = metadata.deferredSteps.first else { return [] }
    let schema = try StoreSchema(self)
    switch first {
    case .convertValues: return metadata.deferredSteps
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
