import CSQLite
import Foundation

extension SQLiteConnection {
  /// Copies the whole database, as it is at one moment and with what its log holds, into a new file.
  ///
  /// - Parameter url: where there is no file yet.
  /// - SeeAlso: <https://sqlite.org/backup.html>
  func copyDatabase(to url: URL) throws {
    var target: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
    let opened = url.withUnsafeFileSystemRepresentation { path in
      path.map { sqlite3_open_v2($0, &target, flags, nil) } ?? SQLITE_CANTOPEN
    }
    defer { sqlite3_close_v2(target) }
    guard opened == SQLITE_OK else { throw Self.failure(of: target, opened, url: url) }
    guard let copying = sqlite3_backup_init(target, "main", handle, "main") else {
      throw Self.failure(of: target, sqlite3_errcode(target), url: url)
    }
    let stepped = sqlite3_backup_step(copying, -1)
    let finished = sqlite3_backup_finish(copying)
    guard stepped == SQLITE_DONE, finished == SQLITE_OK else {
      throw Self.failure(of: target, finished == SQLITE_OK ? stepped : finished, url: url)
    }
  }

  private static func failure(of target: OpaquePointer?, _ code: Int32, url: URL) -> PersistError {
    let words = target.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    return failure(code, said: words.map { String(cString: $0) } ?? "no words for it", url: url)
  }
}
