import CSQLiteForBenchmarks
import Foundation

/// A database that is used by hand: statements are prepared once for many rows.
class PlainDatabase {
  private var handle: OpaquePointer?

  init(_ file: URL, creating statements: [String]) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(file.path, &handle, flags, nil))
    for sql in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"] + statements { try run(sql) }
  }

  deinit { sqlite3_close_v2(handle) }

  func check(_ code: Int32) throws {
    guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
      throw SyncBenchmarkError(String(cString: sqlite3_errmsg(handle)))
    }
  }

  func run(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func withStatement(_ sql: String, _ body: (OpaquePointer?) throws -> Void) throws {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    try body(statement)
  }

  func integer(_ sql: String) throws -> Int {
    var value = 0
    try withStatement(sql) { statement in
      try check(sqlite3_step(statement))
      value = Int(sqlite3_column_int64(statement, 0))
    }
    return value
  }

  func bind(_ value: UUID, _ place: Int32, _ statement: OpaquePointer?) {
    withUnsafeBytes(of: value.uuid) {
      _ = sqlite3_bind_blob(statement, place, $0.baseAddress, 16, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
  }

  func bind(_ value: String, _ place: Int32, _ statement: OpaquePointer?) {
    _ = sqlite3_bind_text(statement, place, value, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }

  /// Runs a statement whose rows nobody needs, so that it can run again.
  func finish(_ statement: OpaquePointer?) throws {
    try check(sqlite3_step(statement))
    sqlite3_reset(statement)
  }

  /// Writes bytes to a file that reaches the disk.
  func write(_ bytes: [UInt8], to file: URL) throws {
    try Data(bytes).write(to: file)
    let written = try FileHandle(forWritingTo: file)
    try written.synchronize()
    try written.close()
  }
}
