import CSQLiteForBenchmarks
import Foundation

/// A connection of a program without Persist. SQLite itself waits for locks.
final class PlainProgram {
  private var handle: OpaquePointer?

  init(_ url: URL) {
    check(sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil))
    sqlite3_busy_timeout(handle, 60_000)
    run("PRAGMA synchronous = NORMAL")
  }

  deinit { sqlite3_close_v2(handle) }

  private func check(_ code: Int32) {
    guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
      preconditionFailure(String(cString: sqlite3_errmsg(handle)))
    }
  }

  func run(_ sql: String) { check(sqlite3_exec(handle, sql, nil, nil, nil)) }
}
