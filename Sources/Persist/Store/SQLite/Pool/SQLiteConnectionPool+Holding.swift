extension SQLiteConnectionPool {
  /// The states of the store that contexts hold.
  var heldStates: HeldStates { shared.heldStates }

  /// Holds the current state of the store in a read transaction that lasts until the returned pool is closed; nil if
  /// that would block writers, or if others' changes can't be detected.
  ///
  /// The connection doesn't count as one of this pool's readers.
  ///
  /// - Throws: ``Continued`` if the store continues in another file, and the store's errors.
  func holdingPresentState() throws -> SQLiteConnectionPool? {
    guard url != nil else { return nil }
    let reader = try takeOut()
    var isHeld = false
    defer { if !isHeld { takeBack(reader) } }
    let connection = reader.connection
    let isLog = try reader.files == nil && connection.first(.journalMode) { $0.text(0) } == "wal"
    guard isLog else { return nil }
    let holding = heldStates.begin(of: self)
    do {
      try connection.waiting {
        try connection.execute(.begin)
        // The transaction begins with the first read.
        _ = try connection.first(.objectCount) { $0.integer(0) }
      }
      // The flag isn't cleared here: the first read of the newest state needs it, too.
      if connection.hasReloadedSchema { _ = try watch?.changedCatalog(connection) }
    } catch {
      Self.endTransaction(of: reader)
      heldStates.end(holding)
      throw error
    }
    isHeld = true
    let pool = SQLiteConnectionPool(holding: reader, of: self) { [weak self, heldStates] reader in
      Self.endTransaction(of: reader)
      heldStates.end(holding)
      if let self { self.takeBack(reader) } else { reader.connection.close() }
    }
    heldStates.set(pool, for: holding, of: self)
    // This pool may have been closed before the state became known, and so hasn't released it.
    do { try requireOpen() } catch {
      pool.close()
      throw error
    }
    return pool
  }

  private static func endTransaction(of reader: Reader) {
    if reader.connection.isInTransaction { _ = try? reader.connection.execute(.rollback) }
  }

  /// Continues to hold the state in a new transaction if it is still the newest one. Otherwise the state is lost, and
  /// nothing can be read any more.
  ///
  /// - Parameter reason: The error of later reads.
  /// - Returns: Whether the state is still held.
  func renewHeldState(orThrow reason: PersistenceError) throws -> Bool {
    try readOnce { connection in
      var isNewest = false
      // Before another thread gets the connection, which may read any state after an error.
      defer { if !isNewest { refuseUse(because: reason) } }
      let before = try connection.first(.dataVersion) { $0.integer(0) }
      try connection.execute(.commit)
      try connection.execute(.begin)
      isNewest = try connection.first(.dataVersion) { $0.integer(0) } == before
      return isNewest
    }
  }
}
