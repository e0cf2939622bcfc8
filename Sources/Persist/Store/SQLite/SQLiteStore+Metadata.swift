extension SQLiteStore {
  func metadata() throws -> StoreMetadata {
    if let pending = pendingMetadata.withLock({ $0 }) { return pending }
    return try pool.readOnce { try StoreMetadata($0) }
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

  /// Writes pending metadata if no commit has written them.
  func savePendingMetadata() throws {
    guard pendingMetadata.withLock({ $0 != nil }) else { return }
    let written = try pool.write { try writePendingMetadata(to: $0) }
    didWrite(written)
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
  /// - Returns: The written metadata, for ``didWrite(_:)`` after the commit.
  func writePendingMetadata(to connection: SQLiteConnection) throws -> StoreMetadata? {
    guard let pending = pendingMetadata.withLock({ $0 }) else { return nil }
    try StoreMetadata(connection).replacingApplicationValues(by: pending).write(to: connection)
    return pending
  }

  /// Clears the pending metadata, unless others were set in the meantime.
  func didWrite(_ written: StoreMetadata?) {
    guard let written else { return }
    pendingMetadata.withLock { if $0 == written { $0 = nil } }
  }
}
