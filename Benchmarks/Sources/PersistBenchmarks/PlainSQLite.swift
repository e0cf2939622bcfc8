import CSQLiteForBenchmarks
import Foundation

/// A connection as a C programmer would use it: prepared once, stepped in a loop.
final class PlainSQLite {
  private var handle: OpaquePointer?

  init(_ path: String) {
    check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil))
    run("PRAGMA journal_mode=WAL")
    run("PRAGMA synchronous=NORMAL")
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  func check(_ code: Int32) {
    guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
      preconditionFailure(String(cString: sqlite3_errmsg(handle)))
    }
  }

  func run(_ sql: String) { check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func prepare(_ sql: String) -> OpaquePointer? {
    var statement: OpaquePointer?
    check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    return statement
  }

  func integer(_ sql: String) -> Int64 {
    let statement = prepare(sql)
    defer { sqlite3_finalize(statement) }
    check(sqlite3_step(statement))
    return sqlite3_column_int64(statement, 0)
  }
}

/// Tells SQLite to copy the bytes at once.
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension PlainSQLite {
  static let createItem = """
    CREATE TABLE IF NOT EXISTS ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZQUANTITY INTEGER, \
    ZRANK INTEGER, ZADDEDAT TIMESTAMP, ZPRICE FLOAT, ZCODE VARCHAR, ZNAME VARCHAR, ZNOTE VARCHAR, ZTOKEN BLOB )
    """

  func insert(_ rows: Range<Int>) {
    run("BEGIN IMMEDIATE")
    let statement = prepare("INSERT INTO ZITEM VALUES (?,1,1,?,?,?,?,?,?,?,?)")
    for number in rows {
      var row = SampleRow(number)
      sqlite3_bind_int64(statement, 1, Int64(number + 1))
      sqlite3_bind_int64(statement, 2, row.quantity)
      sqlite3_bind_int64(statement, 3, row.rank)
      sqlite3_bind_double(statement, 4, row.addedAt)
      sqlite3_bind_double(statement, 5, row.price)
      row.code.withUTF8 { bindText(statement, 6, $0) }
      row.name.withUTF8 { bindText(statement, 7, $0) }
      row.note.withUTF8 { bindText(statement, 8, $0) }
      withUnsafeBytes(of: row.token.uuid) {
        _ = sqlite3_bind_blob(statement, 9, $0.baseAddress, 16, transient)
      }
      check(sqlite3_step(statement))
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
    run("COMMIT")
  }

  private func bindText(_ statement: OpaquePointer?, _ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
    bytes.withMemoryRebound(to: CChar.self) {
      _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), transient)
    }
  }

  /// Every column of every row into a Swift struct, as a program without a library would.
  func readAll(_ body: (SampleRow) -> Void) {
    let statement = prepare("SELECT Z_PK, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZCODE, ZNAME, ZNOTE, ZTOKEN FROM ZITEM")
    var row = SampleRow(0)
    while sqlite3_step(statement) == SQLITE_ROW {
      row.quantity = sqlite3_column_int64(statement, 2)
      row.rank = sqlite3_column_int64(statement, 3)
      row.addedAt = sqlite3_column_double(statement, 4)
      row.price = sqlite3_column_double(statement, 5)
      row.code = text(statement, 6)
      row.name = text(statement, 7)
      row.note = text(statement, 8)
      if let bytes = sqlite3_column_blob(statement, 9) { row.token = UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
      body(row)
    }
    sqlite3_finalize(statement)
  }

  private func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
    let count = Int(sqlite3_column_bytes(statement, column))
    guard let bytes = sqlite3_column_text(statement, column) else { return "" }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Every column of every row, touched and thrown away: what measurements.md calls plain.
  func touchAll() -> UInt64 {
    let statement = prepare("SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZCODE, ZNAME, ZNOTE, ZTOKEN FROM ZITEM")
    var count = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      for column: Int32 in 0..<5 { _ = sqlite3_column_int64(statement, column) }
      _ = sqlite3_column_double(statement, 5)
      _ = sqlite3_column_double(statement, 6)
      for column: Int32 in 7..<10 {
        _ = sqlite3_column_text(statement, column)
        _ = sqlite3_column_bytes(statement, column)
      }
      _ = sqlite3_column_blob(statement, 10)
      count += 1
    }
    sqlite3_finalize(statement)
    return UInt64(count)
  }
}
