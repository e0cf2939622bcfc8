import CSQLite

/// Prevents an application's SQL from ending the transaction that it runs in.
///
/// SQLite requests authorization while it prepares a statement, so that no SQL has to be parsed. The decision depends
/// on the statement, regardless of its spelling.
///
/// - SeeAlso: <https://sqlite.org/c3ref/set_authorizer.html>
final class TransactionGuard {
  /// The last rejected statement, as the application wrote it.
  private var refused: String?

  /// The statement rejected since the last call; nil if there is none.
  func takeRefusal() -> String? {
    defer { refused = nil }
    return refused
  }

  fileprivate func answer(_ action: Int32, _ name: String, _ value: String?) -> Int32 {
    switch action {
    case SQLITE_TRANSACTION: refused = name
    // SQLite silently keeps the journal mode if it can't change it.
    case SQLITE_PRAGMA where value != nil && name.lowercased() == "journal_mode": refused = "PRAGMA \(name)"
    default: return SQLITE_OK
    }
    return SQLITE_DENY
  }
}

extension SQLiteConnection {
  /// Runs `body`; statements prepared in the meantime can't begin or end transactions. Savepoints are allowed.
  func guardingTransaction<T>(_ body: (TransactionGuard) throws -> T) rethrows -> T {
    let guardian = TransactionGuard()
    // SQLite calls back on this thread while a statement of this connection is prepared, and so only within `body`.
    sqlite3_set_authorizer(
      handle,
      { context, action, name, value, _, _ in
        guard let context, let name else { return SQLITE_OK }
        let guardian = Unmanaged<TransactionGuard>.fromOpaque(context).takeUnretainedValue()
        return guardian.answer(action, String(cString: name), value.map { String(cString: $0) })
      }, Unmanaged.passUnretained(guardian).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    return try withExtendedLifetime(guardian) { try body(guardian) }
  }
}
