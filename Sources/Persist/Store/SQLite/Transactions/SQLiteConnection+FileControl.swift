import CSQLite

extension SQLiteConnection {
  /// A number that is another one whenever anybody, this connection included, has committed a change since; within a
  /// transaction, of the state that it sees.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Whether the file that is open has lost its name, or another has it; false where the system can't say.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlhasmoved>
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }
}
