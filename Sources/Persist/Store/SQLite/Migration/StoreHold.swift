import Foundation

/// Prevents others from writing to a store while a copy of it is made. Readers aren't affected.
final class StoreHold {
  let connection: SQLiteConnection
  private let url: URL
  private let options: StoreOptions
  private let version: Int64

  /// - Throws: ``PersistenceError/Code/storeBusy`` if another connection writes and the timeout expires.
  init(_ url: URL, options: StoreOptions) throws {
    self.url = url
    self.options = options
    connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    do {
      // Replaced files are deleted afterward, so the commit must outlast a power failure.
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

  /// Replaces the store's content with that of another database in one transaction, and ends the hold.
  ///
  /// The file itself remains, so that every program that has it open, or opens it now, sees either the old or the new
  /// content: a file renamed into its place would share the names of its log and its journal with one that others still
  /// read.
  ///
  /// - Parameters:
  ///   - replacement: a database with the same page size.
  ///   - report: called with the written fraction; an error that it throws leaves the store unchanged.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if others wrote since the hold began, or, without a log, if readers
  ///   keep the file locked.
  func replaceContent(by replacement: SQLiteConnection, reporting report: (Double) throws -> Void) throws {
    defer { end() }
    // The new content is written in a transaction separate from the one that held the store.
    if try connection.first(.journalMode, { $0.text(0) }) == "wal" {
      // With a log, others may write between the commit and the copying, which is detected.
      let target = try SQLiteConnection(url, mode: .readWrite, options: options)
      defer { target.close() }
      try target.execute(.synchronousFull)
      try connection.execute(.rollback)
      try replacement.copyDatabase(
        into: target,
        checking: {
          guard try Self.version(connection) == version else { throw busy }
        }, reporting: report)
      target.emptyLog()
    } else {
      // Without a log, the exclusive locking mode keeps the file locked between the commit and the copying.
      try connection.execute(.lockingModeExclusive)
      try connection.execute(.commit)
      try replacement.copyDatabase(into: connection, reporting: report)
    }
  }

  private static func version(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.first(.dataVersion) { $0.integer(0) } ?? 0
  }

  private var busy: PersistenceError {
    PersistenceError(
      .storeBusy, at: .store(url), "Another program wrote to the store while it was being replaced.",
      fix: "Try again. The store is as the other program left it.")
  }
}
