import Foundation

/// Positions in the history, and the deletion of its oldest part.
extension SQLiteHistory {
  func lastNumber() throws -> Int64 {
    try store.pool.read { try lastNumber($0) }
  }

  private func lastNumber(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.first(.lastHistoryNumbers) { $0.integer(1) } ?? 0
  }

  func oldestPosition() throws -> Int64 {
    try store.pool.read { connection in
      let first = try connection.first(.firstTransaction) { $0.integer(0) }
      return try max(plan.settings.completeAfter, first.map { $0 - 1 } ?? lastNumber(connection))
    }
  }

  func contains(_ number: Int64) throws -> Bool {
    try store.pool.read { try $0.first(.hasTransaction(number)) { _ in true } ?? false }
  }

  func delete(before number: Int64) throws -> Int {
    try store.pool.write { try $0.deleteHistory(before: number) }
  }

  func delete(before date: Date) throws -> Int {
    try store.pool.write { connection in
      let time = date.timeIntervalSinceReferenceDate
      let first = try connection.first(.firstTransaction(since: time)) { $0.integer(0) }
      return try connection.deleteHistory(before: first ?? lastNumber(connection) + 1)
    }
  }

  func purge(_ purge: HistoryPurge, now: Date) throws -> Int {
    try store.pool.write { connection in
      let last = try lastNumber(connection)
      let byAge = try purge.maximumAge.flatMap { age -> Int64? in
        let time = now.timeIntervalSinceReferenceDate - TimeInterval(age.components.seconds)
        return try connection.first(.firstTransaction(since: time)) { $0.integer(0) }
      }
      let byCount = try purge.maximumCount.flatMap { count -> Int64? in
        guard count > 0 else { return last + 1 }
        return try connection.first(.firstTransaction(ofLast: count)) { $0.integer(0) }
      }
      let bound = try purge.bound(
        last: last, byAge: byAge, byCount: byCount, readers: connection.historyReaders(), now: now)
      return try connection.deleteHistory(before: bound)
    }
  }

  // MARK: Readers

  func readers() throws -> [HistoryReaderRecord] { try store.pool.read { try $0.historyReaders() } }

  func setReader(_ record: HistoryReaderRecord) throws {
    try store.pool.write { connection in
      if try connection.first(.knows(table: SQLText.historyReaderTable), { _ in true }) == nil {
        try connection.execute(.createHistoryReaders)
      }
      try connection.execute(
        .setHistoryReader(record.name, record.number, record.date.timeIntervalSinceReferenceDate))
    }
  }

  func removeReader(_ name: String) throws {
    try store.pool.write { connection in
      guard try connection.first(.knows(table: SQLText.historyReaderTable), { _ in true }) == true else { return }
      try connection.execute(.removeHistoryReader(name))
    }
  }
}

extension SQLiteConnection {
  /// - Returns: The number of deleted transactions.
  fileprivate func deleteHistory(before number: Int64) throws -> Int {
    try execute(.deleteChanges(before: number))
    if try first(.knows(table: OldValuesLayout.valueTable), { _ in true }) == true {
      for statement in SQLText.deleteOldValues(before: number) { try execute(statement) }
    }
    return try execute(.deleteTransactions(before: number))
  }

  fileprivate func historyReaders() throws -> [HistoryReaderRecord] {
    guard try first(.knows(table: SQLText.historyReaderTable), { _ in true }) == true else { return [] }
    return try all(.historyReaders) { row in
      HistoryReaderRecord(
        name: row.text(0), number: row.integer(1), date: Date(timeIntervalSinceReferenceDate: row.double(2)))
    }
  }
}
