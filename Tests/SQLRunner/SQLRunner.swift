import CSQLite
import Foundation

/// Another process that writes to a store: runs SQL on a file.
///
/// `SQLRunner FILE SQL`
@main
struct SQLRunner {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { exit(2) }
    var connection: OpaquePointer?
    defer { sqlite3_close_v2(connection) }
    guard sqlite3_open_v2(arguments[1], &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { exit(3) }
    sqlite3_busy_timeout(connection, 5000)
    guard sqlite3_exec(connection, arguments[2], nil, nil, nil) == SQLITE_OK else {
      FileHandle.standardError.write(Data(String(cString: sqlite3_errmsg(connection)).utf8))
      exit(4)
    }
  }
}
