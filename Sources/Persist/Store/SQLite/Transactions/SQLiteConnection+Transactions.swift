import CSQLite

extension SQLiteConnection {
  /// Runs `body` in a transaction that may write, or in a savepoint where one is open already.
  ///
  /// The write lock is taken at once, so that waiting for it happens here and nowhere later. Everything is rolled back
  /// when `body` throws.
  @discardableResult
  func transaction<T>(_ body: () throws -> T) throws -> T {
    if hasReservedTransaction {
      hasReservedTransaction = false
    } else {
      if isInTransaction { return try savepoint(body) }
      try execute(.beginWriting)
    }
    guard fullTextTrust != nil else { return try finish(body) }
    return try finish {
      try renewFullTextTrust()
      return try body()
    }
  }

  /// Runs `body` in a transaction that only reads: all of it sees the same state of the database.
  @discardableResult
  func readTransaction<T>(_ body: () throws -> T) throws -> T {
    if isInTransaction { return try body() }
    try execute(.begin)
    return try finish(body)
  }

  /// Begins a transaction that may write and that the next ``transaction(_:)`` goes on with.
  func beginReservedTransaction() throws {
    try execute(.beginWriting)
    hasReservedTransaction = true
  }

  /// Rolls back what ``beginReservedTransaction()`` began, unless it was used.
  func endReservedTransaction() {
    guard hasReservedTransaction else { return }
    hasReservedTransaction = false
    _ = try? execute(.rollback)
  }

  private func finish<T>(_ body: () throws -> T) throws -> T {
    do {
      let result = try body()
      try execute(.commit)
      return result
    } catch {
      // Some errors, such as a full disk, have rolled back already; and one of rolling back adds nothing to the first.
      if isInTransaction { _ = try? execute(.rollback) }
      throw error
    }
  }

  private func savepoint<T>(_ body: () throws -> T) throws -> T {
    try execute(.beginNested)
    do {
      let result = try body()
      try execute(.commitNested)
      return result
    } catch {
      if isInTransaction {
        _ = try? execute(.rollbackNested)
        _ = try? execute(.commitNested)
      }
      throw error
    }
  }

  /// Waits until what the log holds is on the disk: in WAL mode a commit alone doesn't, unless `synchronous` is `FULL`.
  ///
  /// With a rollback journal there is nothing to wait for once a transaction has ended.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntljournalpointer>
  func synchronizeLog() throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
      let file, let synchronize = file.pointee.pMethods?.pointee.xSync
    else { return }
    let code = synchronize(file, SQLITE_SYNC_NORMAL)
    guard code == SQLITE_OK else { throw failure(code) }
  }
}
