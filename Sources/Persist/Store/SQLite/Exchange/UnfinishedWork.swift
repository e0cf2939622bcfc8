package import Foundation

/// What a process that was killed left of a store, settled by the next one that may write.
package enum UnfinishedWork {
  /// Three looks at the folder where there is nothing to do.
  package static func settle(storeAt url: URL, options: StoreOptions = StoreOptions()) throws {
    let store = SQLiteFileName.resolved(url)
    try WorkingFolder.settle(besideStoreAt: store)
    try BackupFolder.settle(besideStoreAt: store)
    guard try ReadOnlyAccess.hasHotJournal(store), FileState(store) != nil else { return }
    // SQLite rolls a journal back for the first who reads and may write.
    let connection = try SQLiteConnection(store, mode: .readWrite, options: options)
    defer { connection.close() }
    _ = try connection.first(.objectCount) { $0.integer(0) }
  }
}
