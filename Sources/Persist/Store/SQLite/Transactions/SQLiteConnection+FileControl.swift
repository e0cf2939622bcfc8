import LinkedSQLite

extension SQLiteConnection {
  /// A number that changes whenever any connection, including this one, commits a change; within a transaction, the
  /// number of the state that it sees.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Whether the open file was renamed or deleted, or its name belongs to another file; false if the system can't
  /// determine it.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlhasmoved>
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }
}
