import Foundation

extension PostgreSQLStore {
  func metadata() throws -> StoreMetadata {
    if let pending = pendingMetadata.withLock({ $0 }) { return pending }
    return try pool.read { try StoreMetadata($0) }
  }

  func setMetadata(_ metadata: StoreMetadata) throws {
    guard metadata.identifier == identifier else {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The identifier of an open store can't be changed, because its objects are identified by it.",
        fix: "Close the store first, or leave the identifier as it is.")
    }
    guard !isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only, so its metadata can't be changed.",
        fix: "Open it without isReadOnly to write.")
    }
    pendingMetadata.withLock { $0 = metadata }
  }

  func savePendingMetadata() throws {
    guard pendingMetadata.withLock({ $0 != nil }) else { return }
    didWrite(try pool.write { try writePendingMetadata($0) })
  }

  /// Writes the metadata set since the last commit, at the end of a transaction.
  ///
  /// - Returns: The written metadata, for ``didWrite(_:)`` after the commit.
  func writePendingMetadata(_ transaction: ServerTransaction) throws -> StoreMetadata? {
    guard let pending = pendingMetadata.withLock({ $0 }) else { return nil }
    let stored = try transaction.all(StoreMetadata.query) { try StoreMetadata($0, $1, at: url) }.first
    transaction.runLast([try (stored ?? pending).replacingApplicationValues(by: pending).update()])
    return pending
  }

  /// Clears the pending metadata, unless others were set in the meantime.
  func didWrite(_ written: StoreMetadata?) {
    guard let written else { return }
    pendingMetadata.withLock { if $0 == written { $0 = nil } }
  }
}
