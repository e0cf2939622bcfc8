import Foundation

/// A history that a store records in tables of its own, in a file or on a server.
struct RecordedHistory<Source: HistorySource>: StoreHistory {
  let store: Source
  let map: HistoryMap

  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws {
    var rest = query
    try store.readingHistory { connection in
      // A read that runs again continues after the last visited transaction.
      try TransactionReader(map, of: store, connection).forEachTransaction(rest) { transaction in
        try body(transaction)
        rest.afterNumber = transaction.transactionNumber
      }
    }
  }

  var isTracking: Bool { map.isTracking }

  func disable(keepingPast: Bool) throws {
    store.useHistory(try store.writingHistory { try $0.disableHistory(keepingPast: keepingPast, in: store.map) })
  }
}
