import LinkedSQLite
import Foundation

extension PersistenceError {
  /// Whether SQLite couldn't prepare a statement because of a function that it doesn't know.
  package var isAboutUnknownFunction: Bool {
    guard code == .sqlite, let engineMessage else { return false }
    return engineMessage.contains("no such function") || engineMessage.contains("unknown function")
  }

  /// The view that SQLite names as the reason why it can't change a table.
  package var brokenView: String? {
    guard let parts = engineMessage?.components(separatedBy: "error in view "), parts.count > 1 else { return nil }
    return parts[1].components(separatedBy: " after ")[0].components(separatedBy: ": ")[0]
  }
}

extension SQLiteConnection {
  /// The error for SQLite's last error on this connection.
  ///
  /// - Parameter code: The result code of the failed call.
  package func failure(_ code: Int32, sql: String? = nil) -> PersistenceError {
    let extended = code == SQLITE_MISUSE ? code : max(code, sqlite3_extended_errcode(handle))
    let text = String(cString: sqlite3_errmsg(handle))
    // A page that can't be decrypted has only this code, for which every error in SQL has words of its own.
    if encryption != nil, extended == SQLITE_ERROR, text == String(cString: sqlite3_errstr(SQLITE_ERROR)) {
      return EncryptedFile.damagedPage(url, said: "\(text) (\(extended))", sql: sql)
    }
    return Self.failure(extended, said: text, url: url, sql: sql)
  }

  /// - Parameters:
  ///   - code: An extended result code.
  ///   - text: SQLite's own message.
  /// - SeeAlso: <https://sqlite.org/rescode.html>
  static func failure(_ code: Int32, said text: String, url: URL?, sql: String? = nil) -> PersistenceError {
    let place = PersistenceError.Place(store: url, sql: sql)
    let name = url.map { "'\($0.lastPathComponent)'" } ?? "The store"
    let said = "\(text) (\(code))"
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return PersistenceError(
        .storeBusy, at: place, "\(name) is in use by another connection or process.", engineMessage: said,
        fix: "Try again, or set a longer busyTimeout.")
    case SQLITE_FULL:
      return PersistenceError(
        .diskFull, at: place, "There isn't enough disk space to write \(name).", engineMessage: said,
        fix: "Free some space or raise the quota, then try again.")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      return PersistenceError(
        .storeDamaged, at: place, "\(name) is damaged or isn't an SQLite database.", engineMessage: said,
        fix: "Restore it from a backup, or recover readable data with the sqlite3 command's .recover.")
    case SQLITE_READONLY:
      if code == readOnlyRollback { return hotJournal(place, name) }
      if isIndexUnready(code) {
        return PersistenceError(
          .storeBusy, at: place, "Another program has \(name) open, and hasn't prepared it for readers yet.",
          engineMessage: said,
          fix: "Try again, or set a longer busyTimeout. If the error persists, end the program that has "
            + "the file open.")
      }
      return PersistenceError(
        .storeReadOnly, at: place, "\(name) can't be written.", engineMessage: said,
        fix: "Check the permissions of the file and of its folder, or open it for reading only.")
    case SQLITE_CONSTRAINT:
      return PersistenceError(
        .constraintConflict, at: place, "A constraint of the database is violated.", engineMessage: said)
    case SQLITE_IOERR:
      return PersistenceError(
        .fileAccess, at: place, "Reading or writing \(name) failed.", engineMessage: said,
        fix: "Check the disk, and that the file still exists at its path.")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      if let folder = url.flatMap(FileState.missingFolder) {
        return PersistenceError(
          .storeOpenFailed, at: place, "\(name) can't be opened: there is no folder '\(folder.path)'.",
          engineMessage: said, fix: "Create the folder, or check the path.")
      }
      return PersistenceError(
        .storeOpenFailed, at: place, "\(name) can't be opened.", engineMessage: said,
        fix: "Check that the file and its folder exist and are readable, and also writable unless the store is opened "
          + "read-only.")
    case SQLITE_TOOBIG:
      return PersistenceError(
        .limitExceeded, at: place, "A value exceeds SQLite's size limit.", engineMessage: said,
        fix: "Store values of this size outside the store.")
    case SQLITE_INTERRUPT:
      return PersistenceError(.interrupted, at: place, "An operation on \(name) was interrupted.")
    default:
      return PersistenceError(
        .sqlite, at: place, "SQLite failed to run a statement on \(name).", engineMessage: said)
    }
  }

  /// The error for a reader that finds the journal of an unfinished writer.
  static func hotJournal(_ place: PersistenceError.Place, _ name: String) -> PersistenceError {
    PersistenceError(
      .storeReadOnly, at: place,
      "A program ended while writing \(name). Its transaction must be rolled back first, which requires write access.",
      fix: "Open it once for writing, or migrate it ('persist migrate'); or copy it with its '-journal' file and "
        + "open the copy for writing.")
  }

  /// Whether a reader without write access to the log's index failed because another process has yet to initialize it.
  static func isIndexUnready(_ code: Int32) -> Bool {
    code & 0xFF == SQLITE_READONLY && indexUnready.contains(code)
  }

  /// `SQLITE_READONLY_ROLLBACK`, a macro that isn't imported into Swift.
  private static let readOnlyRollback = SQLITE_READONLY | (3 << 8)

  /// `SQLITE_READONLY_RECOVERY`, `SQLITE_READONLY_CANTLOCK` and `SQLITE_READONLY_CANTINIT`.
  ///
  /// - SeeAlso: <https://sqlite.org/rescode.html#readonly_recovery>
  private static let indexUnready: [Int32] = [1, 2, 5].map { SQLITE_READONLY | ($0 << 8) }
}
