package import Foundation

/// Positions in the history, and the deletion of its oldest part.
extension RecordedHistory {
  package func lastNumber() throws -> Int64 {
    try store.readingHistory { try $0.lastHistoryNumbers().transaction }
  }

  package func lastPosition() throws -> HistoryPosition {
    try store.readingHistory { connection in
      let number = try connection.lastHistoryNumbers().transaction
      let time = try connection.first(of: .timeOfTransaction(number)) { $0.double(0) }
      return HistoryPosition(number: number, mark: HistoryMark(life: store.life, time: time))
    }
  }

  package var life: UInt64 { store.life }

  package func contains(_ number: Int64, _ mark: HistoryMark) throws -> Bool {
    try store.readingHistory { connection in
      // The first statement begins the transaction.
      guard try number <= connection.lastHistoryNumbers().transaction else { return false }
      return try isOwn(number, mark: mark, settings: presentMap(in: connection).settings, in: connection)
    }
  }

  /// Whether a position has the life and the time of this history's transaction of that number. The time of a
  /// transaction that others deleted is unknown.
  func isOwn(
    _ number: Int64, mark: HistoryMark, settings: HistorySettings, in connection: Source.Connection
  ) throws -> Bool {
    guard mark.life == store.life else { return false }
    guard let time = mark.time else { return true }
    let known = try connection.first(of: .timeOfTransaction(number)) { $0.double(0) }
      ?? settings.deleted.flatMap { $0.number == number ? $0.time : nil }
    return known.map { $0.bitPattern == time } ?? true
  }

  package func extent() throws -> HistoryExtent { try store.readingHistory { try present(in: $0).extent } }

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

  package func contains(_ number: Int64) throws -> Bool {
    try store.readingHistory { try $0.first(of: .hasTransaction(number)) { _ in true } ?? false }
  }

  package func delete(before number: Int64) throws -> Int {
    try store.writingHistory { try $0.deleteHistory(before: number) }
  }

  package func delete(before date: Date) throws -> Int {
    try store.writingHistory { connection in
      let (time, now) = (date.timeIntervalSinceReferenceDate, Date().timeIntervalSinceReferenceDate)
      let last = try connection.first(of: .lastTransaction(before: time, now: now)) { $0.integer(0) }
      return try last.map { try connection.deleteHistory(before: $0.saturatingAdding(1)) } ?? 0
    }
  }

  package func purge(_ purge: HistoryPurge, now: Date) throws -> Int {
    try store.writingHistory { connection in
      let last = try connection.lastHistoryNumbers().transaction
      let byAge = try purge.maximumAge.flatMap { age -> Int64? in
        let now = now.timeIntervalSinceReferenceDate
        let time = now - TimeInterval(age.components.seconds)
        return try connection.first(of: .lastTransaction(before: time, now: now)) { $0.integer(0) }
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

  package func readers() throws -> [HistoryReaderRecord] { try store.readingHistory { try $0.historyReaders() } }

  package func setReader(_ record: HistoryReaderRecord) throws {
    try store.writingHistory { connection in
      if try !connection.hasTable(named: SharedSQL.historyReaderTable) {
        try connection.execute(.createHistoryReaders)
      }
      try connection.execute(
        .setHistoryReader(record.name, to: record.number, heard: record.date.timeIntervalSinceReferenceDate))
      guard let mark = record.mark else { return }
      if try !connection.hasTable(named: SharedSQL.historyMarkTable) { try connection.execute(.createHistoryMarks) }
      try connection.execute(.setHistoryMark(record.name, of: record.number, to: mark.text))
    }
  }

  package func removeReader(_ name: String) throws {
    try store.writingHistory { connection in
      let tables = [SharedSQL.historyReaderTable, SharedSQL.historyMarkTable]
      for table in tables where try connection.hasTable(named: table) {
        try connection.execute(.removeHistoryReader(name, from: table))
      }
    }
  }
}

extension HistoryConnection {
  /// - Returns: The number of deleted transactions.
  fileprivate func deleteHistory(before number: Int64) throws -> Int {
    if let last = try first(of: .lastTransaction(beforeNumber: number), { ($0.integer(0), $0.double(1)) }) {
      var metadata = try storeMetadata()
      metadata.history.deleted = HistorySettings.Deleted(number: last.0, time: last.1)
      try replace(metadata)
    }
    try execute(.deleteChanges(before: number))
    if try hasTable(named: OldValuesLayout.valueTable) {
      try execute(all: SharedSQL.deleteOldValues(before: number))
    }
    return try execute(.deleteTransactions(before: number))
  }

  fileprivate func historyReaders() throws -> [HistoryReaderRecord] {
    guard try hasTable(named: SharedSQL.historyReaderTable) else { return [] }
    var marks: [String: (number: Int64, mark: HistoryMark?)] = Dictionary()
    if try hasTable(named: SharedSQL.historyMarkTable) {
      try forEachRow(of: .historyMarks) { marks[$0.text(0)] = ($0.integer(1), HistoryMark($0.text(2))) }
    }
    return try all(of: .historyReaders) { row in
      let (name, number) = (row.text(0), row.integer(1))
      // An earlier release only wrote the number.
      let mark = marks[name].flatMap { $0.number == number ? $0.mark : nil }
      return HistoryReaderRecord(
        name: name, number: number, mark: mark, date: Date(timeIntervalSinceReferenceDate: row.double(2)))
    }
  }
}
