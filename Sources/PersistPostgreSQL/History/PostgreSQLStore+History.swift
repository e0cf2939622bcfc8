import Foundation
import Persist

extension PostgreSQLStore: HistorySource {
  var history: (any StoreHistory)? { historyMap.withLock { $0 }.map { RecordedHistory(store: self, map: $0) } }

  func readingHistory<T>(_ body: (ServerHistoryConnection) throws -> T) throws -> T {
    try pool.readTransaction { try body(ServerHistoryConnection($0)) }
  }

  func writingHistory<T>(_ body: (ServerHistoryConnection) throws -> T) throws -> T {
    try pool.write(ending: true) { transaction in
      try transaction.run([])
      return try body(ServerHistoryConnection(transaction.session))
    }
  }

  /// Each flight compares the store's mark, and the read runs again if others have changed the settings.
  func presentHistory(in connection: ServerHistoryConnection) throws -> HistoryMap? { historyMap.withLock { $0 } }

  func useHistory(_ history: HistoryMap?) { historyMap.withLock { $0 = history } }

  func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)? {
    try ServerStoreMonitor(pool.address, hasHistory: { [weak self] in self?.history?.isTracking == true }, report)
  }

  /// A writer of the history, made before the transaction changes rows; nil if changes aren't recorded.
  func historyWriter(by origin: HistoryOrigin?, _ transaction: ServerTransaction) throws -> ServerHistoryWriter? {
    guard let map = historyMap.withLock({ $0 }), map.isTracking else { return nil }
    if map.oldValues != nil { try transaction.keepOldValues() }
    return ServerHistoryWriter(map, by: origin, in: pool.address.schema)
  }
}

extension ServerTransaction {
  /// Records the changes in the history, together with the end of the transaction.
  func record(_ writer: inout ServerHistoryWriter?) throws {
    guard var recorder = writer else { return }
    let hasBegun = recorder.hasBegun
    let statements = recorder.statements()
    writer = recorder
    guard !statements.isEmpty else { return }
    let (attached, describes) = (recorder.attached, recorder.map.beginDescribing())
    if attached != nil || describes { try findTables() }
    if var attached {
      // The lock orders transactions. A statement that ran before may have counted this one already.
      if attached.lastTransaction != nil { try session.run([ServerHistoryWriter.lockCounter]) }
      if hasBegun { attached.lastTransaction? += 1 }
      try ServerHistoryConnection(session).write(attached)
    }
    if describes { try ServerHistoryConnection(session).describe(recorder.map) }
    runLast(statements)
    expectHistoryNumber()
  }
}
