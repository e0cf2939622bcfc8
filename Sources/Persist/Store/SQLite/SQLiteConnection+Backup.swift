import CSQLite
import Foundation

extension SQLiteConnection {
  /// Copies the whole database, as it is at one moment and with what its log holds, into a new file.
  ///
  /// - Parameter url: where there is no file yet.
  func copyDatabase(to url: URL) throws {
    var target: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
    let opened = url.withUnsafeFileSystemRepresentation { path in
      path.map { sqlite3_open_v2($0, &target, flags, nil) } ?? SQLITE_CANTOPEN
    }
    defer { sqlite3_close_v2(target) }
    guard opened == SQLITE_OK else { throw Self.failure(of: target, opened, url: url) }
    try copyPages(into: target, url: url)
  }

  /// Copies the whole database over that of another connection, in one transaction of that.
  func copyDatabase(into target: SQLiteConnection) throws {
    if target.url != nil, try pageSize != target.pageSize {
      // The size of pages can't change while there is a log.
      try target.execute(.journalModeDelete)
    }
    try copyPages(into: target.handle, url: target.url)
  }

  private var pageSize: Int64? { get throws { try first(.currentPageSize) { $0.integer(0) } } }

  /// - SeeAlso: <https://sqlite.org/backup.html>
  private func copyPages(into target: OpaquePointer?, url: URL?) throws {
    guard let copying = sqlite3_backup_init(target, "main", handle, "main") else {
      throw Self.failure(of: target, sqlite3_errcode(target), url: url)
    }
    let stepped = sqlite3_backup_step(copying, -1)
    let finished = sqlite3_backup_finish(copying)
    guard stepped == SQLITE_DONE, finished == SQLITE_OK else {
      throw Self.failure(of: target, finished == SQLITE_OK ? stepped : finished, url: url)
    }
  }

  private static func failure(of target: OpaquePointer?, _ code: Int32, url: URL?) -> PersistError {
    let words = target.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    return failure(code, said: words.map { String(cString: $0) } ?? "no words for it", url: url)
  }
}
