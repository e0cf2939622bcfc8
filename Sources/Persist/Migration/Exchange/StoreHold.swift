import Foundation

/// Keeps everybody else from writing to a store while a copy of it is made: readers aren't disturbed.
final class StoreHold {
  let connection: SQLiteConnection
  private let url: URL
  private let options: StoreOptions
  private let version: Int64

  /// - Throws: ``PersistenceError/Code/storeBusy`` where another connection writes and the wait runs out.
  init(_ url: URL, options: StoreOptions) throws {
    self.url = url
    self.options = options
    connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    do {
      // Replaced files are deleted afterwards, so the commit must outlast a power failure.
      try connection.execute(.synchronousFull)
      try connection.execute(.beginWriting)
      version = try Self.version(connection)
    } catch {
      connection.close()
      throw error
    }
  }

  deinit { end() }

  /// Releases the store.
  func end() {
    if connection.isInTransaction { _ = try? connection.execute(.rollback) }
    connection.close()
  }

  /// Replaces the store's content by another database's in one transaction, and ends the hold.
  ///
  /// The file stays the same one, so that every program that has it open, or opens it at this moment, sees the old
  /// content or the new: a file that was renamed into its place would share the names of its log and its journal with
  /// one that others still read.
  ///
  /// - Parameter replacement: has pages of the same size.
  /// - Throws: ``PersistenceError/Code/storeBusy`` where somebody wrote since the store was held, or, without a log,
  ///   where readers don't let go.
  func replaceContent(by replacement: SQLiteConnection) throws {
    defer { end() }
    // A transaction of its own writes the new content. Between it and the one that held the store,
    if try connection.first(.journalMode, { $0.text(0) }) == "wal" {
      // others may be faster, and are noticed;
      let target = try SQLiteConnection(url, mode: .readWrite, options: options)
      defer { target.close() }
      try target.execute(.synchronousFull)
      try connection.execute(.rollback)
      try replacement.copyDatabase(into: target) {
        guard try Self.version(connection) == version else { throw busy }
      }
      target.emptyLog()
    } else {
      // the lock stays.
      try connection.execute(.lockingModeExclusive)
      try connection.execute(.commit)
      try replacement.copyDatabase(into: connection)
    }
  }

  private static func version(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.first(.dataVersion) { $0.integer(0) } ?? 0
  }

  private var busy: PersistenceError {
    PersistenceError(
      .storeBusy, at: .store(url), "Another program wrote to the store at the moment when it was to be exchanged.",
      fix: "Try again; the store is as the other program left it.")
  }
}
