import CSQLiteForBenchmarks
import Foundation

/// A connection as a C programmer would use it: without SQLite's mutex on a single thread, with statements prepared
/// once and stepped in a loop, and values bound without copying.
final class PlainSQLite {
  /// The settings of Persist's connections, so that no contestant checks less than another.
  static let safety = ["PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON"]
  /// The settings of a new file created by Persist, like Core Data; no effect on a file with tables.
  static let newFile = "PRAGMA auto_vacuum = INCREMENTAL"

  private var handle: OpaquePointer?

  init(_ path: String) {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    check(sqlite3_open_v2(path, &handle, flags, nil))
    for pragma in BenchmarkKey.pragmas { run(pragma) }
    // Before others, because even a pragma waits for a file that another connection recovers.
    sqlite3_busy_timeout(handle, 5000)
    for pragma in Self.safety { run(pragma) }
    run("PRAGMA synchronous = NORMAL")
  }

  /// Creates a file with the settings of a new store.
  static func create(_ path: String) -> PlainSQLite {
    let database = PlainSQLite(path)
    database.run(newFile)
    database.run("PRAGMA journal_mode = WAL")
    return database
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

  /// Runs a statement with its values in a transaction of its own.
  func commit(_ statement: OpaquePointer?) {
    run("BEGIN IMMEDIATE")
    check(sqlite3_step(statement))
    sqlite3_reset(statement)
    run("COMMIT")
  }

  func integer(_ sql: String) -> Int64 {
    let statement = prepare(sql)
    defer { sqlite3_finalize(statement) }
    check(sqlite3_step(statement))
    return sqlite3_column_int64(statement, 0)
  }
}

extension PlainSQLite {
  static let createItem = """
    CREATE TABLE IF NOT EXISTS ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZQUANTITY INTEGER, \
    ZRANK INTEGER, ZADDEDAT TIMESTAMP, ZPRICE FLOAT, ZCODE VARCHAR, ZNAME VARCHAR, ZNOTE VARCHAR, ZTOKEN BLOB )
    """

  func insert(_ rows: [SampleRow], firstKey: Int64 = 1) {
    run("BEGIN IMMEDIATE")
    let statement = prepare("INSERT INTO ZITEM VALUES (?,1,1,?,?,?,?,?,?,?,?)")
    for (number, sample) in rows.enumerated() {
      var row = sample
      sqlite3_bind_int64(statement, 1, firstKey + Int64(number))
      sqlite3_bind_int64(statement, 2, row.quantity)
      sqlite3_bind_int64(statement, 3, row.rank)
      sqlite3_bind_double(statement, 4, row.addedAt)
      sqlite3_bind_double(statement, 5, row.price)
      // The bytes remain valid until the statement is reset, so that SQLite needn't copy them.
      row.code.withUTF8 { code in
        row.name.withUTF8 { name in
          row.note.withUTF8 { note in
            withUnsafeBytes(of: row.token.uuid) { token in
              Self.bind(statement, 6, code)
              Self.bind(statement, 7, name)
              Self.bind(statement, 8, note)
              sqlite3_bind_blob(statement, 9, token.baseAddress, Int32(token.count), nil)
              check(sqlite3_step(statement))
              sqlite3_reset(statement)
            }
          }
        }
      }
    }
    sqlite3_finalize(statement)
    run("COMMIT")
  }

  /// Binds a text without copying: it must remain valid until the statement is reset.
  static func bind(_ statement: OpaquePointer?, _ index: Int32, _ text: UnsafeBufferPointer<UInt8>) {
    text.withMemoryRebound(to: CChar.self) {
      _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), nil)
    }
  }

  /// Every column of the items, the eight properties last.
  static let columns =
    "Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZCODE, ZNAME, ZNOTE, ZTOKEN"

  /// Reads all columns of the current row.
  static func touch(_ statement: OpaquePointer?) {
    for column: Int32 in 0..<5 { _ = sqlite3_column_int64(statement, column) }
    _ = sqlite3_column_double(statement, 5)
    _ = sqlite3_column_double(statement, 6)
    for column: Int32 in 7..<10 {
      _ = sqlite3_column_text(statement, column)
      _ = sqlite3_column_bytes(statement, column)
    }
    _ = sqlite3_column_blob(statement, 10)
  }

  /// Reads every column of every row, and discards them.
  ///
  /// - Returns: The number of rows.
  func touchAll() -> UInt64 {
    let statement = prepare("SELECT \(Self.columns) FROM ZITEM")
    var count: UInt64 = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      Self.touch(statement)
      count += 1
    }
    sqlite3_finalize(statement)
    return count
  }

  /// Reads the eight properties of every row as Swift values, as a program without a library would have them.
  func readAll() -> UInt64 {
    let statement = prepare("SELECT \(Self.columns) FROM ZITEM")
    var sum = Checksum()
    while sqlite3_step(statement) == SQLITE_ROW {
      for column: Int32 in 0..<3 { _ = sqlite3_column_int64(statement, column) }
      sum.add(
        sqlite3_column_int64(statement, 3), sqlite3_column_int64(statement, 4), sqlite3_column_double(statement, 5),
        sqlite3_column_double(statement, 6))
      for column: Int32 in 7..<10 { sum.add(Self.text(statement, column)) }
      if let bytes = sqlite3_column_blob(statement, 10) { sum.add(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) }
    }
    sqlite3_finalize(statement)
    return sum.value
  }

  /// Reads the items with some keys, each by a look-up of its own.
  ///
  /// - Returns: The sum of their ranks.
  func ranks(ofKeys keys: [Int64]) -> UInt64 {
    let statement = prepare("SELECT \(Self.columns) FROM ZITEM WHERE Z_PK = ?")
    defer { sqlite3_finalize(statement) }
    var sum: UInt64 = 0
    for key in keys {
      sqlite3_bind_int64(statement, 1, key)
      if sqlite3_step(statement) == SQLITE_ROW {
        Self.touch(statement)
        sum &+= UInt64(bitPattern: sqlite3_column_int64(statement, 4))
      }
      sqlite3_reset(statement)
    }
    return sum
  }

  static func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
    let count = Int(sqlite3_column_bytes(statement, column))
    guard let bytes = sqlite3_column_text(statement, column) else { return "" }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
