import LinkedSQLite
import Persist

/// Prevents an application's SQL from ending the transaction that it runs in.
///
/// The decision depends on the statement, regardless of its spelling.
final class TransactionGuard {
  /// The last rejected statement, as the application wrote it.
  private var refused: String?

  /// The statement rejected since the last call; nil if there is none.
  func takeRefusal() -> String? {
    defer { refused = nil }
    return refused
  }

  fileprivate func answer(_ action: Int32, named name: String, value: String?) -> Int32 {
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
    return try authorizing { action, name, value in
      name.map { guardian.answer(action, named: $0, value: value) } ?? SQLITE_OK
    } during: {
      try body(guardian)
    }
  }
}
