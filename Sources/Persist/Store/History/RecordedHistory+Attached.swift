import Foundation

/// Reading and writing the entries that a product keeps in a store.
extension RecordedHistory {
  package func attachedEntries(_ ranges: [AttachedRange], limit: Int) throws -> [[AttachedEntry]] {
    try store.readingHistory { connection in
      guard try connection.hasTable(named: SQLText.attachedTable) else { return ranges.map { _ in [] } }
      return try ranges.map { range in
        try connection.all(of: .attachedEntries(in: range, limit: limit)) {
          AttachedEntry(key: $0.data(0), value: $0.data(1))
        }
      }
    }
  }

  package func write(_ entries: AttachedEntries) throws { try store.writingHistory { try $0.write(entries) } }
}

extension HistoryConnection {
  /// Writes entries; the caller holds the transaction, and hasn't counted it in the history yet.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` if entries or the history have changed unexpectedly.
  package func write(_ entries: AttachedEntries) throws {
    if let expected = entries.lastTransaction, try lastHistoryNumbers().transaction != expected {
      throw overtaken("Another transaction was saved after number \(expected).")
    }
    if try !hasTable(named: SQLText.attachedTable) { try execute(.createAttachedTable) }
    for (key, value) in entries.unchanged {
      let present = try first(of: .attachedEntries(in: AttachedRange(key: key), limit: 1)) { $0.data(1) }
      if present != value { throw overtaken("Another program has written the store's attached entries.") }
    }
    for (key, value) in entries.values {
      try execute(value.map { .setAttachedEntry(key, $0) } ?? .removeAttachedEntry(key))
    }
  }

  private func overtaken(_ what: String) -> PersistenceError {
    PersistenceError(.mergeConflict, at: .store(url), what, fix: "Read the store again, and repeat the operation.")
  }
}
