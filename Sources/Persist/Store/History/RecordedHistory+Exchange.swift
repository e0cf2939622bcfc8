/// Reading and writing the store's notes about its exchange with others.
extension RecordedHistory {
  package func exchangeEntries(of identity: String) throws -> [ExchangeEntry] {
    try entries(.exchangeEntries(of: identity))
  }

  package func exchangeEntries(referringTo identity: String) throws -> [ExchangeEntry] {
    try entries(.exchangeEntries(referringTo: identity))
  }

  private func entries(_ sql: SQLText) throws -> [ExchangeEntry] {
    try reading(or: []) { connection in
      try connection.all(of: sql) { row in
        ExchangeEntry(
          identity: row.text(0), part: .init(property: row.text(1), member: row.text(2)),
          clock: ExchangeClock(time: row.double(3), store: row.text(4)), isPresent: row.integer(5) != 0,
          reference: row.isNull(6) ? nil : row.text(6))
      }
    }
  }

  package func exchangeIdentity(ofEntity entity: String, key: Int64) throws -> String? {
    try reading(or: nil) { try $0.first(of: .exchangeIdentity(ofEntity: entity, key: key)) { $0.text(0) } }
  }

  package func exchangeRow(of identity: String) throws -> ExchangeRow? {
    try reading(or: nil) { connection in
      try connection.first(of: .exchangeRow(of: identity)) { row in
        ExchangeRow(identity: identity, entity: row.text(0), key: row.integer(1))
      }
    }
  }

  package func exchangePosition() throws -> Int64 {
    try reading(or: 0) { try $0.first(of: .exchangePosition) { $0.integer(0) } ?? 0 }
  }

  package func write(_ notes: ExchangeNotes) throws { try store.writingHistory { try $0.write(notes) } }

  private func reading<T>(or none: T, _ body: (Source.Connection) throws -> T) throws -> T {
    try store.readingHistory { connection in
      guard try connection.hasTable(named: SQLText.exchangeEntryTable) else { return none }
      return try body(connection)
    }
  }
}

extension HistoryConnection {
  /// Writes a record of an exchange; the caller holds the transaction.
  package func write(_ notes: ExchangeNotes) throws {
    guard !notes.isEmpty else { return }
    if try !hasTable(named: SQLText.exchangeEntryTable) {
      for statement in SQLText.createExchangeTables { try execute(statement) }
    }
    for entry in notes.entries { try execute(.setExchangeEntry(entry)) }
    for row in notes.rows { for statement in SQLText.setExchangeRow(row) { try execute(statement) } }
    if let position = notes.position { try execute(.setExchangePosition(position)) }
  }
}
