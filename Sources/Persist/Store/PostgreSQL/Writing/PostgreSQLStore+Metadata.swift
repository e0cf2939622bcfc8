import Foundation

extension PostgreSQLStore {
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
