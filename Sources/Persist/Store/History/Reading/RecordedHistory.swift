import Foundation

/// A history that a store records in tables of its own, in a file or on a server.
package struct RecordedHistory<Source: HistorySource>: StoreHistory {
  package let store: Source
  /// The meaning and settings of the history as far as this program has noticed.
  package let map: HistoryMap

  package init(store: Source, map: HistoryMap) {
    self.store = store
    self.map = map
  }

  package func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    try visit(query, body) { connection in
      // The first statement begins the transaction.
      _ = try connection.first(of: .firstTransaction) { $0.integer(0) }
      return try presentMap(in: connection)
    }
  }

  package func forEachTransaction(
    _ query: HistoryQuery, provided isAcceptable: (HistoryExtent) throws -> Bool,
    _ body: (HistoryTransaction) throws -> Void
  ) throws {
    try visit(query, body) { connection in
      var (map, extent) = try present(in: connection)
      if let number = query.afterNumber, let mark = query.afterMark {
        extent.isOfPosition = try isOwn(number, mark: mark, settings: map.settings, in: connection)
      }
      return try isAcceptable(extent) ? map : nil
    }
  }

  /// - Parameter map: Returns the meaning of the history in the state that a connection reads; nil to visit nothing.
  private func visit(
    _ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void,
    map: (Source.Connection) throws -> HistoryMap?
  ) throws {
    var rest = query
    try store.readingHistory { connection in
      guard let present = try map(connection) else { return }
      // A read that runs again continues after the last visited transaction.
      try TransactionReader(present, of: store, connection).forEachTransaction(rest) { transaction in
        try body(transaction)
        rest.afterNumber = transaction.transactionNumber
      }
    }
  }

  package var isTracking: Bool { map.isTracking }

  package func disable(keepingPast: Bool) throws {
    store.useHistory(try store.writingHistory { try $0.disableHistory(keepingPast: keepingPast, in: store.map) })
  }
}
