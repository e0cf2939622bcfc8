import CSQLite

/// Keeps SQL of an application from ending the transaction that it runs in.
///
/// SQLite asks for leave while it prepares a statement, so that nobody has to read SQL for it. What counts is the
/// statement, however it is written.
///
/// - SeeAlso: <https://sqlite.org/c3ref/set_authorizer.html>
final class TransactionGuard {
  /// What was refused last, as the application wrote it.
  private var refused: String?

  /// What was refused since the last call; nil where nothing was.
  func takeRefusal() -> String? {
    defer { refused = nil }
    return refused
  }

  fileprivate func answer(_ action: Int32, _ name: String, _ value: String?) -> Int32 {
    switch action {
    case SQLITE_TRANSACTION: refused = name
    // Where it can't change the mode it leaves it as it is, without a word.
    case SQLITE_PRAGMA where value != nil && name.lowercased() == "journal_mode": refused = "PRAGMA \(name)"
    default: return SQLITE_OK
    }
    return SQLITE_DENY
  }
}

extension SQLiteConnection {
  /// Runs `body`; statements that are prepared meanwhile begin and end no transaction. Savepoints they may have.
  func guardingTransaction<T>(_ body: (TransactionGuard) throws -> T) rethrows -> T {
    let guardian = TransactionGuard()
    // SQLite asks on this thread, while a statement of this connection is prepared, and so only within `body`.
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
