extension SQLiteStore {
  func metadata() throws -> StoreMetadata {
    try pendingMetadata.current ?? pool.readOnce { try StoreMetadata($0) }
  }

  func setMetadata(_ metadata: StoreMetadata) throws { try pendingMetadata.set(metadata, of: self) }

  /// Writes pending metadata if no commit has written them.
  func savePendingMetadata() throws {
    guard pendingMetadata.current != nil else { return }
    let written = try pool.write { connection in
      let written = try writePendingMetadata(to: connection)
      try seal(connection, hasNewMetadata: written != nil)
      return written
    }
    pendingMetadata.didWrite(written)
  }

  /// Records that the store has exactly this model, if it was written with one with the same storage.
  ///
  /// Only the version's name depends on it: if another process is writing, it is left for another time.
  func stamp() throws {
    guard !isReadOnly else { return }
    do {
      try pool.write { try StoreMetadata($0).stamp(model, in: $0) }
    } catch let error as PersistenceError where [.storeBusy, .diskFull, .storeReadOnly].contains(error.code) {
      return
    }
  }

  /// Writes the metadata set since the last commit; the caller holds the transaction.
  ///
  /// - Returns: The written metadata, for ``PendingMetadata/didWrite(_:)`` after the commit.
  func writePendingMetadata(to connection: SQLiteConnection) throws -> StoreMetadata? {
    guard let pending = pendingMetadata.current else { return nil }
    try StoreMetadata(connection).replacingApplicationValues(by: pending).write(to: connection)
    return pending
  }
}
