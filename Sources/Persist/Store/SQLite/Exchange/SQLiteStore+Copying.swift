extension SQLiteStore {
  func copying<T>(thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T) throws -> T {
    if url == nil, !closes {
      // Reading waits for the same connection as writing: for no longer than that takes.
      let copy = try StoreBackup.copyInMemory(self, pool.options, hasWriteLock: false)
      defer { try? copy.close() }
      return try body(copy)
    }
    // Files of large values that the state names are only kept while nobody writes.
    guard let right = try pool.reserveWriting(within: pool.options.busyTimeout, patience: .seconds(60)) else {
      return try copyingReadOnly(thenClosing: closes, body)
    }
    defer { right.end() }
    let result: T? = try WriteReservation.using([right]) {
      let result = try body(self)
      if closes { pool.refuseUse() }
      return result
    }
    guard let result else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "Other parts of this program kept the store busy with writes.", fix: "Try again.")
    }
    right.end()
    if closes { try close() }
    return result
  }

  private func copyingReadOnly<T>(thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T) throws -> T {
    let generation = try generation()
    let result = try body((generation?.rows as? any PersistentStore) ?? self)
    if closes { try close() }
    return result
  }
}
