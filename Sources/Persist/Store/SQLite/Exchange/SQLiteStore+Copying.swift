extension SQLiteStore {
  func copying<T>(thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T) throws -> T {
    // A large value's file only remains while nobody writes.
    if !closes, url == nil || !hasLargeValues, let result = try withPresentState(body) { return result }
    let result = try whileNobodyWrites(thenClosing: closes, body) ?? withPresentState(body) ?? body(self)
    if closes { try close() }
    return result
  }

  private var hasLargeValues: Bool { plans.writes.contains { !$0.fileColumns.isEmpty } }

  /// Calls `body` with the present state of the store, whatever others write meanwhile.
  ///
  /// - Returns: Nil, without calling `body`, if the state of the file can't be held.
  private func withPresentState<T>(_ body: (any PersistentStore) throws -> T) throws -> T? {
    let state: SQLiteStore
    if url == nil {
      // Reading waits for the same connection as writing: now, for no longer than a copy in memory takes.
      state = try StoreBackup.copyInMemory(self, pool.options, hasWriteLock: false)
    } else {
      guard let held = try pool.following({ try $0.holdingPresentState() }) else { return nil }
      state = SQLiteStore(reading: held, of: self)
    }
    defer { try? state.close() }
    return try body(state)
  }

  /// - Parameter closes: Whether writers that wait meanwhile fail afterward, since the caller closes the store.
  /// - Returns: Nil, without calling `body`, if the store is open for reading only.
  private func whileNobodyWrites<T>(
    thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T
  ) throws -> T? {
    guard !isReadOnly else { return nil }
    return try excludingWriters {
      let result = try body(self)
      if closes { pool.refuseUse() }
      return result
    }
  }
}
