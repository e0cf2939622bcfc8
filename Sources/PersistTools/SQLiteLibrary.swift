import LinkedSQLite
import Persist

/// The SQLite library with which the process is linked.
package enum SQLiteLibrary {
  /// The library's version, such as `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }
}
