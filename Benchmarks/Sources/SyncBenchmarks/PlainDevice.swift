import CSQLiteForBenchmarks
import Foundation

/// The same synchronization written by hand over SQLite: each row has the time of its last change, rows that have
/// changed since the last synchronization are sent whole, and are inserted unless there is a later one.
///
/// It loses the other's value if two devices change different values of one object, knows no deletions, and no versions
/// of the model. Statements are prepared once, and values are bound without a copy.
final class PlainDevice: PlainDatabase {
  init(_ file: URL) throws {
    try super.init(
      file,
      creating: [
        """
        CREATE TABLE IF NOT EXISTS ITEM (
          KEY INTEGER PRIMARY KEY, ID BLOB UNIQUE, NAME TEXT, NOTE TEXT, PRICE REAL, QUANTITY INTEGER, ITEMGROUP BLOB,
          CHANGED INTEGER)
        """,
        "CREATE INDEX IF NOT EXISTS ITEM_CHANGED ON ITEM (CHANGED)",
        "CREATE INDEX IF NOT EXISTS ITEM_GROUP ON ITEM (ITEMGROUP)",
      ])
  }

  func addItems(_ count: Int) throws {
    try run("BEGIN IMMEDIATE")
    try withStatement(
      """
      INSERT INTO ITEM (ID, NAME, NOTE, PRICE, QUANTITY, ITEMGROUP, CHANGED) VALUES (?, ?, ?, ?, ?, ?, 1)
      """
    ) { statement in
      for number in 0..<count {
        let group = number / SyncSample.itemsPerGroup * SyncSample.itemsPerGroup
        bind(SyncSample.identifier(number, of: 0), 1, statement)
        bind(SyncSample.name(number), 2, statement)
        bind(SyncSample.note(number), 3, statement)
        sqlite3_bind_double(statement, 4, SyncSample.price(number))
        sqlite3_bind_int64(statement, 5, Int64(number))
        bind(SyncSample.identifier(group, of: 1), 6, statement)
        try check(sqlite3_step(statement))
        sqlite3_reset(statement)
      }
    }
    try run("COMMIT")
  }

  func change(_ count: Int, of total: Int, _ spread: SyncSample.Spread, round: Int) throws {
    try run("BEGIN IMMEDIATE")
    try withStatement("UPDATE ITEM SET NAME = ?, CHANGED = ? WHERE KEY = ?") { statement in
      for index in 0..<count {
        let number = spread.place(index, count, of: total)
        bind("Changed \(round) \(number)", 1, statement)
        sqlite3_bind_int64(statement, 2, Int64(round + 1))
        sqlite3_bind_int64(statement, 3, Int64(number + 1))
        try check(sqlite3_step(statement))
        sqlite3_reset(statement)
      }
    }
    try run("COMMIT")
  }

  /// Writes the rows that have changed after a time to a file on the disk.
  func send(after time: Int, to file: URL) throws {
    var bytes: [UInt8] = []
    func add(_ count: Int32, _ start: UnsafeRawPointer?) {
      withUnsafeBytes(of: count) { bytes.append(contentsOf: $0) }
      if let start { bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: Int(count))) }
    }
    try withStatement(
      "SELECT ID, NAME, NOTE, ITEMGROUP, PRICE, QUANTITY, CHANGED FROM ITEM WHERE CHANGED > \(time)"
    ) { statement in
      while true {
        let code = sqlite3_step(statement)
        try check(code)
        guard code == SQLITE_ROW else { break }
        for column: Int32 in 0..<4 {
          let start = sqlite3_column_blob(statement, column)
          add(sqlite3_column_bytes(statement, column), start)
        }
        let price = sqlite3_column_double(statement, 4)
        withUnsafeBytes(of: price) { bytes.append(contentsOf: $0) }
        for column: Int32 in 5..<7 {
          let number = sqlite3_column_int64(statement, column)
          withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
      }
    }
    try write(bytes, to: file)
  }

  /// Inserts or updates the rows of a file, in one transaction.
  func apply(_ file: URL) throws {
    let data = try Data(contentsOf: file)
    try run("BEGIN IMMEDIATE")
    try withStatement(
      """
      INSERT INTO ITEM (ID, NAME, NOTE, ITEMGROUP, PRICE, QUANTITY, CHANGED) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (ID) DO UPDATE SET NAME = excluded.NAME, NOTE = excluded.NOTE, ITEMGROUP = excluded.ITEMGROUP,
        PRICE = excluded.PRICE, QUANTITY = excluded.QUANTITY, CHANGED = excluded.CHANGED
      WHERE excluded.CHANGED > ITEM.CHANGED
      """
    ) { statement in
      try data.withUnsafeBytes { bytes in
        var position = 0
        while position < bytes.count {
          for column: Int32 in 0..<4 {
            let count = bytes.loadUnaligned(fromByteOffset: position, as: Int32.self)
            position += 4
            let start = bytes.baseAddress.map { $0 + position }
            if column == 1 || column == 2 {
              sqlite3_bind_text(statement, column + 1, start?.assumingMemoryBound(to: CChar.self), count, nil)
            } else {
              sqlite3_bind_blob(statement, column + 1, start, count, nil)
            }
            position += Int(count)
          }
          sqlite3_bind_double(statement, 5, bytes.loadUnaligned(fromByteOffset: position, as: Double.self))
          sqlite3_bind_int64(statement, 6, bytes.loadUnaligned(fromByteOffset: position + 8, as: Int64.self))
          sqlite3_bind_int64(statement, 7, bytes.loadUnaligned(fromByteOffset: position + 16, as: Int64.self))
          position += 24
          try check(sqlite3_step(statement))
          sqlite3_reset(statement)
        }
      }
    }
    try run("COMMIT")
  }
}
