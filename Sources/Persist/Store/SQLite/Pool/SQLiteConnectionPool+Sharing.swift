import Foundation

/// The end of a transaction that several saves share. Each save waits for it on a thread of its own.
// @unchecked: `isCommitted` is only accessed while `condition` is locked, `places` only by the thread with the turn.
final class SharedCommit: @unchecked Sendable {
  /// The number of saves that may still join.
  var places: Int
  private let condition = NSCondition()
  private var isCommitted: Bool?

  init(places: Int) { self.places = places }

  /// Waits for the end of the transaction.
  ///
  /// - Returns: False if it was rolled back.
  func wait(_ instrument: (any StoreInstrument)?) -> Bool {
    let begun = instrument.map { _ in ContinuousClock.now }
    defer { if let begun { instrument?.waited(for: .writer, .now - begun) } }
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let isCommitted { return isCommitted }
      condition.wait()
    }
  }

  func end(isCommitted: Bool) {
    condition.lock()
    self.isCommitted = isCommitted
    condition.broadcast()
    condition.unlock()
  }
}

/// Saves that share a transaction.
///
/// A commit takes longer than most saves, above all if it waits for the disk. A save that ends while others wait for
/// the turn therefore leaves its transaction open and passes it on with the turn. The next save works in a savepoint,
/// so that it fails alone, and the last one commits for all. Each save returns after this commit.
///
/// Only saves that already waited when the first one ended join, so that no save waits without bound. A save for which
/// none waits commits at once, by the same statements as ever.
extension SQLiteConnectionPool {
  /// Writes as ``write(_:)`` does, in a transaction that may contain the writes of other callers of this function.
  ///
  /// - Parameter body: Called again if the transaction was rolled back because of others.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func writeSharing<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if url == nil || isReadOnly || WriteReservation.isHeld(of: self) { return try write(body) }
    return try following { pool in
      let wait = try pool.beginTurn(pool.options.busyTimeout, joins: true)
      defer { pool.shared.noteChange() }
      return try pool.runSharing(wait, body)?.get()
    } ?? write(body)
  }

  /// Runs a save with the turn, which it ends or passes on.
  ///
  /// - Returns: The outcome of the save, whatever becomes of others; nil if others caused a rollback.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func runSharing<T>(
    _ wait: BoundedWait?, _ body: (SQLiteConnection) throws -> T
  ) -> Result<T, any Error>? {
    let joined = sharedCommit
    let result = Result {
      let connection = try currentWriter()
      canLendWriter = false
      return try working(connection, wait) {
        func run() throws -> T {
          try requireUnchanged(connection)
          return try body(connection)
        }
        return joined == nil ? try connection.beginTransaction(run) : try connection.transaction(run)
      }
    }
    // A first save that failed, or an error for which SQLite rolls everything back, such as a full disk.
    guard let writer, writer.isInTransaction else {
      end(joined, isCommitted: false)
      return result
    }
    let commit = joined ?? SharedCommit(places: turn.waitingCount)
    if pass(on: commit) { return commit.wait(instrument) ? result : nil }
    do {
      // Even if the pool was closed meanwhile.
      try working(writer, wait) { try writer.commitTransaction() }
      writtenVersion = writer.dataVersion
      end(commit, isCommitted: true)
      return result
    } catch {
      end(commit, isCommitted: false)
      return joined == nil ? .failure(error) : nil
    }
  }

  /// Passes the turn to the next save, which joins; returns false if there is none.
  private func pass(on commit: SharedCommit) -> Bool {
    guard commit.places > 0 else { return false }
    commit.places -= 1
    sharedCommit = commit
    if turn.passToJoining() { return true }
    sharedCommit = nil
    return false
  }

  /// Ends the turn, and then the wait of the saves that shared the transaction.
  private func end(_ commit: SharedCommit?, isCommitted: Bool) {
    sharedCommit = nil
    turn.end()
    commit?.end(isCommitted: isCommitted)
  }

  /// Runs a part of the transaction.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func working<T>(_ writer: SQLiteConnection, _ wait: BoundedWait?, _ body: () throws -> T) throws -> T {
    try writer.waiting(wait) { try observed(writer) { _ in try explaining(writer, body) } }
  }
}
