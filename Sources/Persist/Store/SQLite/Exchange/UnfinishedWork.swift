package import Foundation

/// The remains of a killed process in a store, cleaned up by the next process with write access.
package enum UnfinishedWork {
  /// Whether there may be remains of a process; costs three file lookups.
  ///
  /// - Parameter path: The path of the store with symbolic links resolved.
  static func mayExist(besideStoreAt path: String) -> Bool {
    FileState(path: SQLiteFileName.hiddenPath(beside: path, WorkingFolder.suffix)) != nil
      || FileState(path: SQLiteFileName.hiddenPath(beside: path, BackupFolder.suffix)) != nil
      || FileState(path: path + "-journal") != nil
  }

  /// Cleans up; if there is nothing to do, this costs three file lookups.
  package static func cleanUp(storeAt url: URL, options: StoreOptions = StoreOptions()) throws {
    let store = SQLiteFileName.resolved(url)
    try WorkingFolder.cleanUp(besideStoreAt: store)
    try BackupFolder.cleanUp(besideStoreAt: store)
    guard FileState(path: store.path + "-journal") != nil, FileState(store) != nil else { return }
    let connection = try SQLiteConnection(store, mode: .readWrite, options: options)
    defer { connection.close() }
    if try ReadOnlyAccess.hasHotJournal(store) {
      // SQLite rolls back a journal for the first reader with write access.
      _ = try connection.first(.objectCount) { $0.integer(0) }
    }
    removeSpentJournal(connection)
  }

  /// Removes a journal with nothing to roll back: its writer was killed before writing a page, or after its commit.
  ///
  /// SQLite itself deletes the journal when it leaves the mode that keeps journals, provided that no other connection
  /// is writing. The transaction prevents others from switching to WAL mode in the meantime. A journal in use remains:
  /// it does no harm.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_journal_mode>
  private static func removeSpentJournal(_ connection: SQLiteConnection) {
    try? connection.readTransaction {
      _ = try connection.first(.objectCount) { $0.integer(0) }
      guard try connection.first(.journalMode, { $0.text(0) }) == "delete" else { return }
      try connection.execute(.journalModePersist)
      try connection.execute(.journalModeDelete)
    }
  }
}
