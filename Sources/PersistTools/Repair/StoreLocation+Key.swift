import LinkedSQLite
public import Persist

extension StoreLocation {
  /// Encrypts a store that isn't open with another key, in place and in one transaction.
  ///
  /// If the program is killed at any moment, the store has either the old key or the new one; the next program that
  /// opens it with the right one finishes the work. Every page is written once, and once to the journal. The salt and
  /// SQLCipher's settings remain. Copies and backups of the store keep the key that they were made with.
  ///
  /// ```swift
  /// try StoreLocation.file(url).changeKey(from: { .raw(try old()) }, to: { .raw(try new()) })
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key of the store.
  ///   - newKey: The key that it gets, with the same salt if it contains one.
  ///   - settings: SQLCipher's settings of the store, as in ``StoreOptions/pragmas``.
  /// - Throws: ``PersistenceError/Code/wrongKey``; ``PersistenceError/Code/storeBusy`` if this or another program has
  ///   the store open; ``PersistenceError/Code/diskFull``; ``PersistenceError/Code/storeTypeMismatch`` if it isn't a
  ///   file. The store then has the old key.
  public func changeKey(
    from key: @escaping StoreEncryption.KeyProvider, to newKey: @escaping StoreEncryption.KeyProvider,
    settings: [String: String] = [:]
  ) throws {
    guard case .file(let url) = self else {
      throw PersistenceError(
        .storeTypeMismatch, "Only a store in a file has a key.", fix: "Name the file of an encrypted store.")
    }
    guard try engine.openCount(ofStoreAt: self) == 0 else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "The store is open in this program.",
        fix: "Remove it from its coordinators first.")
    }
    var options = StoreOptions(pragmas: settings)
    options.key = key
    try options.encrypting {
      try UnfinishedWork.cleanUp(storeAt: url, options: options)
      let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
      defer { connection.close() }
      let mode = try connection.first(.journalMode) { $0.text(0) }
      // Fails while any other connection is open, and keeps others out until this one is closed.
      try connection.execute(.lockingModeExclusive)
      _ = try connection.first(.journalModeDelete) { $0.text(0) }
      try connection.execute(.beginExclusive)
      try connection.execute(.commit)
      try connection.setKey(newKey)
      if mode == "wal" { _ = try connection.first(.journalModeWAL) { $0.text(0) } }
    }
    options.key = newKey
    let connection = try SQLiteConnection(url, mode: .readOnly, options: options)
    connection.close()
  }
}

extension SQLiteConnection {
  fileprivate func setKey(_ newKey: StoreEncryption.KeyProvider) throws {
    let key = try newKey()
    try key.withBytes { bytes in
      let code = persist_sqlite3_rekey(handle, bytes.baseAddress, Int32(clamping: bytes.count))
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }
}
