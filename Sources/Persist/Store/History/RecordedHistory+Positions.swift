import Foundation

/// Positions in the history, and the deletion of its oldest part.
extension RecordedHistory {
  func lastNumber() throws -> Int64 {
    try store.readingHistory { try $0.lastHistoryNumbers().transaction }
  }

  func extent() throws -> HistoryExtent { try store.readingHistory { try present(in: $0).extent } }

  /// The meaning and extent of the history in the state that a connection reads: other programs may have switched it
  /// off or on again since this one last read the store's settings.
  func present(in connection: Source.Connection) throws -> (map: HistoryMap, extent: HistoryExtent) {
    let first = try connection.first(of: .firstTransaction) { $0.integer(0) }
    let last = try connection.lastHistoryNumbers().transaction
    let map = try presentMap(in: connection)
    let extent = HistoryExtent(
      oldestPosition: max(map.settings.completeAfter, first?.saturatingAdding(-1) ?? last), lastNumber: last,
      isTracking: map.isTracking)
    return (map, extent)
  }

  /// The meaning of the history in the state that a connection reads, after the first statement.
  func presentMap(in connection: Source.Connection) throws -> HistoryMap {
    if let map = try store.presentHistory(in: connection) { return map }
    throw PersistenceError(
      .invalidRequest, at: .store(store.url), "Another program has deleted the history of the store.",
      fix: "Open the store with StoreOptions(tracksHistory: true), which records changes from then on.")
  }

  func contains(_ number: Int64) throws -> Bool {
    try store.readingHistory { try $0.first(of: .hasTransaction(number)) { _ in true } ?? false }
  }

  func delete(before number: Int64) throws -> Int {
    try store.writingHistory { try $0.deleteHistory(before: number) }
  }

  func delete(before date: Date) throws -> Int {
    try store.writingHistory { connection in
      let time = date.timeIntervalSinceReferenceDate
      let first = try connection.first(of: .firstTransaction(since: time)) { $0.integer(0) }
      let end = try first ?? connection.lastHistoryNumbers().transaction.saturatingAdding(1)
      return try connection.deleteHistory(before: end)
    }
  }

  func purge(_ purge: HistoryPurge, now: Date) throws -> Int {
    try store.writingHistory { connection in
      let last = try connection.lastHistoryNumbers().transaction
      let byAge = try purge.maximumAge.flatMap { age -> Int64? in
        let time = now.timeIntervalSinceReferenceDate - TimeInterval(age.components.seconds)
        return try connection.first(of: .firstTransaction(since: time)) { $0.integer(0) }
      }
      let byCount = try purge.maximumCount.flatMap { count -> Int64? in
        guard count > 0 else { return last.saturatingAdding(1) }
        return try connection.first(of: .firstTransaction(ofLast: count)) { $0.integer(0) }
      }
      let bound = try purge.bound(
        last: last, byAge: byAge, byCount: byCount, readers: connection.historyReaders(), now: now)
      return try connection.deleteHistory(before: bound)
    }
  }

  // MARK: Readers

  func readers() throws -> [HistoryReaderRecord] { try store.readingHistory { try $0.historyReaders() } }

  func setReader(_ record: HistoryReaderRecord) throws {
    try store.writingHistory { connection in
      if try !connection.hasTable(named: SQLText.historyReaderTable) {
        try connection.execute(.createHistoryReaders)
      }
      try connection.execute(
        .setHistoryReader(record.name, record.number, record.date.timeIntervalSinceReferenceDate))
    }
  }

  func removeReader(_ name: String) throws {
    try store.writingHistory { connection in
      guard try connection.hasTable(named: SQLText.historyReaderTable) else { return }
      try connection.execute(.removeHistoryReader(name))
    }
  }
}

extension HistoryConnection {
  /// - Returns: The number of deleted transactions.
  fileprivate func deleteHistory(before number: Int64) throws -> Int {
    try execute(.deleteChanges(before: number))
    if try hasTable(named: OldValuesLayout.valueTable) {
      for statement in SQLText.deleteOldValues(before: number) { try execute(statement) }
    }
    return try execute(.deleteTransactions(before: number))
  }

  fileprivate func historyReaders() throws -> [HistoryReaderRecord] {
    guard try hasTable(named: SQLText.historyReaderTable) else { return [] }
    return try all(of: .historyReaders) { row in
      HistoryReaderRecord(
        name: row.text(0), number: row.integer(1), date: Date(timeIntervalSinceReferenceDate: row.double(2)))
    }
  }
}
