import Foundation

extension SQLiteConnection {
  /// Opens a database, reads from it in one transaction, and closes it, without changing a byte.
  ///
  /// A read without locks is repeated if another program changed the files in the meantime, even if it failed with an
  /// error.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if others keep changing the files.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  static func reading<T>(
    _ url: URL, options: StoreOptions = StoreOptions(), _ body: (SQLiteConnection) throws -> T
  ) throws -> T {
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      let before = StoreFilesState(of: url)
      let result = Result {
        let connection = try SQLiteConnection(url, mode: .readOnly, options: options)
        defer { connection.close() }
        return (try connection.readTransaction { try body(connection) }, connection.isWithoutLocks)
      }
      let isChanged = StoreFilesState(of: url) != before
      switch result {
      case .success((let value, false)): return value
      case .success((let value, true)) where !isChanged: return value
      case .failure(let error) where !isChanged || !Self.canBeUnlocked(error): throw error
      default: break
      }
      guard ContinuousClock.now < deadline else { throw changedWhileRead(url) }
    }
  }

  /// Whether an error can result from files that were changed while being read without locks.
  private static func canBeUnlocked(_ error: any Error) -> Bool {
    guard let code = (error as? PersistenceError)?.code else { return false }
    return [
      .storeDamaged, .notAStore, .sqlite, .fileAccess, .storeOpenFailed, .storeReadOnly, .storeBusy,
    ].contains(code)
  }

  @inline(never)
  static func changedWhileRead(_ url: URL?) -> PersistenceError {
    PersistenceError(
      .storeBusy, at: .store(url), "Another program changed the store while it was read without locks.",
      fix: "Read again.")
  }
}
