/// Reading and writing the store's notes about its exchange with others.
extension SQLiteHistory {
  func exchangeEntries(of identity: String) throws -> [ExchangeEntry] { try entries(.exchangeEntries(of: identity)) }

  func exchangeEntries(referringTo identity: String) throws -> [ExchangeEntry] {
    try entries(.exchangeEntries(referringTo: identity))
  }

  private func entries(_ sql: SQLText) throws -> [ExchangeEntry] {
    try reading(or: []) { connection in
      try connection.all(sql) { row in
        ExchangeEntry(
          identity: row.text(0), part: .init(property: row.text(1), member: row.text(2)),
          clock: ExchangeClock(time: row.double(3), store: row.text(4)), isPresent: row.integer(5) != 0,
          reference: row.isNull(6) ? nil : row.text(6))
      }
    }
  }

  func exchangeIdentity(ofEntity entity: String, key: Int64) throws -> String? {
    try reading(or: nil) { try $0.first(.exchangeIdentity(ofEntity: entity, key: key)) { $0.text(0) } }
  }

  func exchangeRow(of identity: String) throws -> ExchangeRow? {
    try reading(or: nil) { connection in
      try connection.first(.exchangeRow(of: identity)) { row in
        ExchangeRow(identity: identity, entity: row.text(0), key: row.integer(1))
      }
    }
  }

  func exchangePosition() throws -> Int64 {
    try reading(or: 0) { try $0.first(.exchangePosition) { $0.integer(0) } ?? 0 }
  }

  func write(_ notes: ExchangeNotes) throws { try store.pool.write { try $0.write(notes) } }

  private func reading<T>(or none: T, _ body: (SQLiteConnection) throws -> T) throws -> T {
    try store.pool.read { connection in
      guard try connection.first(.knows(table: SQLText.exchangeEntryTable), { _ in true }) == true else { return none }
      return try body(connection)
    }
  }
}

extension SQLiteConnection {
  /// Writes a record of an exchange; the caller holds the transaction.
  func write(_ notes: ExchangeNotes) throws {
    guard !notes.isEmpty else { return }
    if try first(.knows(table: SQLText.exchangeEntryTable), { _ in true }) != true {
      for statement in SQLText.createExchangeTables { try execute(statement) }
    }
    for entry in notes.entries { try execute(.setExchangeEntry(entry)) }
    for row in notes.rows { try execute(.setExchangeRow(row)) }
    if let position = notes.position { try execute(.setExchangePosition(position)) }
  }
}
