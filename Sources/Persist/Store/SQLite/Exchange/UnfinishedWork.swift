package import Foundation

/// What a process that was killed left of a store, settled by the next one that may write.
package enum UnfinishedWork {
  /// Three looks at the folder where there is nothing to do.
  package static func settle(storeAt url: URL, options: StoreOptions = StoreOptions()) throws {
    let store = SQLiteFileName.resolved(url)
    try WorkingFolder.settle(besideStoreAt: store)
    try BackupFolder.settle(besideStoreAt: store)
    guard FileState(SQLiteFileName.companion(of: store, "-journal")) != nil, FileState(store) != nil else { return }
    let connection = try SQLiteConnection(store, mode: .readWrite, options: options)
    defer { connection.close() }
    if try ReadOnlyAccess.hasHotJournal(store) {
      // SQLite rolls a journal back for the first who reads and may write.
      _ = try connection.first(.objectCount) { $0.integer(0) }
    }
    removeSpentJournal(connection)
  }

  /// Removes a journal with nothing to roll back: its writer was killed before it wrote a page, or after its commit.
  ///
  /// SQLite deletes the journal itself where it leaves the mode that keeps journals, and only while nobody writes. The
  /// transaction keeps others from turning the log on meanwhile. Where the journal is in use it stays: it does no harm.
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
