import Foundation
import Persist

extension ServerPool {
  /// Records that the store has exactly this model, if it was written with one with the same storage.
  ///
  /// Only the version's name depends on it: if another program is writing, it is left for another time.
  ///
  /// - Parameter mark: The mark of the state in which the store had the same storage.
  /// - Returns: Whether it was recorded.
  func stamp(_ model: ManagedObjectModel, ifMarked mark: ServerMark) throws -> Bool {
    guard !options.isReadOnly else { return false }
    do {
      return try write { transaction in
        try transaction.run([ServerText.lock(address.schema)])
        guard try ServerMark(in: transaction.session) == mark else { return false }
        var metadata = try StoreMetadata(transaction.session)
        metadata.setModel(versionHashes: metadata.versionHashes, versionIdentifiers: model.versionIdentifiers)
        try transaction.run([metadata.update()] + metadata.record(model))
        let session = transaction.session
        try ServerTableDescription(session, StoreCatalog(session).tableMap(of: model))
          .write(waitingAtMost: options.busyTimeout)
        return true
      }
    } catch let error as PersistenceError
      where [.storeBusy, .diskFull, .storeReadOnly, .storeOpenFailed].contains(error.code)
    {
      return false
    }
  }
}

extension PostgreSQLStore {
  func stalledCommits() throws -> Int {
    // A role sees the waits of its own sessions.
    let sql: ServerText = """
      SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep' \
      AND state_change < clock_timestamp() - interval '1 s'
      """
    return Int(try pool.read { try $0.first(sql) { $0.integer($1, 0) } ?? 0 })
  }

  func metadata() throws -> StoreMetadata {
    try pendingMetadata.current ?? pool.read { try StoreMetadata($0) }
  }

  func setMetadata(_ metadata: StoreMetadata) throws { try pendingMetadata.set(metadata, of: self) }

  func savePendingMetadata() throws {
    guard pendingMetadata.current != nil else { return }
    pendingMetadata.didWrite(try pool.write { try writePendingMetadata($0) })
  }

  /// Writes the metadata set since the last commit, at the end of a transaction.
  ///
  /// - Returns: The written metadata, for ``PendingMetadata/didWrite(_:)`` after the commit.
  func writePendingMetadata(_ transaction: ServerTransaction) throws -> StoreMetadata? {
    guard let pending = pendingMetadata.current else { return nil }
    let stored = try transaction.all(StoreMetadata.query) { try StoreMetadata($0, $1, at: url) }.first
    transaction.runLast([try (stored ?? pending).replacingApplicationValues(by: pending).update()])
    return pending
  }
}
