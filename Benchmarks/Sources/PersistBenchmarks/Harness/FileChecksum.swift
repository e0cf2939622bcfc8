import CSQLiteForBenchmarks
import Foundation

/// Computes a checksum of every value of every row of tables, regardless of the order of rows and columns.
enum FileChecksum {
  static func sum(of tables: [String], in file: URL) -> UInt64 {
    guard !tables.isEmpty else { return 0 }
    let database = PlainSQLite(file.path)
    return tables.reduce(0) { $0 &+ sum(of: $1, in: database) }
  }

  private static func sum(of table: String, in database: PlainSQLite) -> UInt64 {
    let statement = database.prepare("SELECT * FROM \(table)")
    defer { sqlite3_finalize(statement) }
    let names = (0..<sqlite3_column_count(statement)).map { fold(String(cString: sqlite3_column_name(statement, $0))) }
    var sum: UInt64 = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      var row: UInt64 = 0
      for (index, name) in names.enumerated() { row &+= mix(name ^ value(of: statement, Int32(index))) }
      sum &+= mix(row)
    }
    return sum
  }

  private static func value(of statement: OpaquePointer?, _ column: Int32) -> UInt64 {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return UInt64(bitPattern: sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column).bitPattern
    case SQLITE_NULL: return 0x6E75_6C6C
    default:
      let bytes = UnsafeRawBufferPointer(
        start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
      return bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
  }

  private static func fold(_ text: String) -> UInt64 {
    text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }

  private static func mix(_ value: UInt64) -> UInt64 {
    var bits = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
