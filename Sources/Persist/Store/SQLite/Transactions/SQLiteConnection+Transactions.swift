import LinkedSQLite

extension SQLiteConnection {
  /// Runs `body` in a write transaction, or in a savepoint if one is already open.
  ///
  /// The write lock is acquired immediately, so that waiting only happens here. Everything is rolled back if `body`
  /// throws.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    let isReserved = isInReservedTransaction
    hasReservedTransaction = false
    if !isReserved {
      if isInTransaction { return try savepoint(body) }
      try execute(.beginWriting)
    }
    guard fullTextTrust != nil else { return try finish(body) }
    return try finish {
      try renewFullTextTrust()
      return try body()
    }
  }

  /// Runs `body` as ``transaction(_:)`` does, and leaves the transaction of ``beginReservedTransaction()`` open.
  func transactionKeepingReservation<T>(_ body: () throws -> T) throws -> T {
    try isInReservedTransaction ? savepoint(body) : transaction(body)
  }

  /// Runs `body` in a write transaction of its own.
  ///
  /// - Parameter isLeftOpen: Called after `body`; if the answer is yes, ``commitTransaction()`` ends the transaction.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func transaction<T>(_ body: () throws -> T, leavingOpenIf isLeftOpen: () -> Bool) throws -> T {
    try execute(.beginWriting)
    return try rollingBack {
      if fullTextTrust != nil { try renewFullTextTrust() }
      let result = try body()
      if !isLeftOpen() { try execute(.commit) }
      return result
    }
  }

  func commitTransaction() throws { _ = try rollingBack { try execute(.commit) } }

  /// Runs `body` in a read transaction, which sees a single state of the database.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func readTransaction<T>(_ body: () throws -> T) throws -> T {
    if isInTransaction { return try body() }
    try execute(.begin)
    return try finish(body)
  }

  /// Begins a write transaction that the next ``transaction(_:)`` continues.
  func beginReservedTransaction() throws {
    try execute(.beginWriting)
    hasReservedTransaction = true
  }

  /// Whether the transaction of ``beginReservedTransaction()`` is open and unused. Some errors, such as a full disk,
  /// roll it back.
  var isInReservedTransaction: Bool { hasReservedTransaction && isInTransaction }

  /// Rolls back the transaction of ``beginReservedTransaction()`` unless it was used.
  func endReservedTransaction() {
    guard hasReservedTransaction else { return }
    hasReservedTransaction = false
    _ = try? execute(.rollback)
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func finish<T>(_ body: () throws -> T) throws -> T {
    try rollingBack {
      let result = try body()
      try execute(.commit)
      return result
    }
  }

  /// Rolls the transaction back if `body` throws.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func rollingBack<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      // Some errors, such as a full disk, have already caused a rollback; and an error of the rollback adds nothing to
      // the first.
      if isInTransaction { _ = try? execute(.rollback) }
      throw error
    }
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
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

  /// Waits until the log's content is on disk: in WAL mode a commit alone doesn't, unless `synchronous` is `FULL`.
  ///
  /// With a rollback journal it does nothing after a transaction has ended.
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
