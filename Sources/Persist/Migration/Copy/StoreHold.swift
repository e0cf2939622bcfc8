import Foundation

/// Keeps everybody else from writing to a store while a copy of it is made: readers aren't disturbed.
///
/// Only one migration holds a store at a time, so that what an earlier one left behind can be taken away.
final class StoreHold {
  let connection: SQLiteConnection
  private let url: URL
  private let version: Int64

  /// - Throws: ``PersistError/Code/storeBusy`` where another connection writes and the wait runs out.
  init(_ url: URL, options: StoreOptions) throws {
    self.url = url
    connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    do {
      try connection.execute(.beginWriting)
      version = try Self.version(connection)
    } catch {
      connection.close()
      throw error
    }
  }

  deinit { end() }

  /// Lets the store go; nothing of it was changed.
  func end() {
    if connection.isInTransaction { _ = try? connection.execute(.rollback) }
    connection.close()
  }

  /// Calls `body` while nobody has the store open, its log is in its file, and nobody wrote to it since it was held.
  ///
  /// - Throws: ``PersistError/Code/storeBusy`` where others have it open, or were faster.
  func alone(_ body: () throws -> Void) throws {
    try connection.execute(.rollback)
    // In WAL mode this takes the log into the file, which SQLite does only for one who is alone.
    let mode = try connection.first(.journalMode) { $0.text(0) }
    if mode == "wal", try connection.first(.journalModeDelete, { $0.text(0) }) != "delete" { throw busy }
    try connection.execute(.beginExclusive)
    guard try Self.version(connection) == version else { throw busy }
    try body()
  }

  private static func version(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.first(.dataVersion) { $0.integer(0) } ?? 0
  }

  private var busy: PersistError {
    PersistError(
      .storeBusy, at: .store(url), "Others use the store, so that the migrated one can't take its place yet.",
      fix: "Close it everywhere else and try again; the store is as it was.")
  }
}
