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
      defer { pool.shared.recordChange() }
      guard let commit = pool.sharedCommit else { return try pool.writeFirst(wait, body) }
      return try pool.write(sharing: commit, wait, body)
    }
  }

  /// Runs a save in a transaction of its own, which is left open for others that wait.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func writeFirst<T>(_ wait: BoundedWait?, _ body: (SQLiteConnection) throws -> T) throws -> T {
    let writer: SQLiteConnection
    let value: T
    var isOpen = false
    do {
      writer = try currentWriter()
      canLendWriter = false
      value = try working(on: writer, wait: wait) {
        try writer.transaction {
          try requireUnchanged(writer)
          return try body(writer)
        } leavingOpenIf: {
          isOpen = turn.isNextJoining
          return isOpen
        }
      }
    } catch {
      turn.end()
      throw error
    }
    guard isOpen else {
      writtenVersion = writer.dataVersion
      turn.end()
      return value
    }
    let commit = SharedCommit(places: turn.waitingCount)
    if pass(on: commit) { return commit.wait(instrument) ? value : try write(body) }
    // The waiting threads have given up, so this one commits alone.
    if let error = end(commit, of: writer, wait) { throw error }
    return value
  }

  /// Runs a save in the transaction of others.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func write<T>(
    sharing commit: SharedCommit, _ wait: BoundedWait?, _ body: (SQLiteConnection) throws -> T
  ) throws -> T {
    let result = Result {
      let connection = try currentWriter()
      return try working(on: connection, wait: wait) {
        try connection.transaction {
          try requireUnchanged(connection)
          return try body(connection)
        }
      }
    }
    // After some errors, such as a full disk, SQLite has rolled everything back.
    guard let writer, writer.isInTransaction else {
      end(commit, isCommitted: false)
      return try result.get()
    }
    let isCommitted = pass(on: commit) ? commit.wait(instrument) : end(commit, of: writer, wait) == nil
    return isCommitted ? try result.get() : try write(body)
  }

  /// Commits for all saves that share a transaction, even if the pool was closed meanwhile, and ends the turn.
  ///
  /// - Returns: The error, after which everything is rolled back.
  private func end(_ commit: SharedCommit, of writer: SQLiteConnection, _ wait: BoundedWait?) -> (any Error)? {
    do {
      try working(on: writer, wait: wait) { try writer.commitTransaction() }
      writtenVersion = writer.dataVersion
      end(commit, isCommitted: true)
      return nil
    } catch {
      end(commit, isCommitted: false)
      return error
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
  private func end(_ commit: SharedCommit, isCommitted: Bool) {
    sharedCommit = nil
    turn.end()
    commit.end(isCommitted: isCommitted)
  }

  /// Runs a part of the transaction.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func working<T>(on writer: SQLiteConnection, wait: BoundedWait?, _ body: () throws -> T) throws -> T {
    try writer.waiting(wait) { try observed(writer) { _ in try explaining(writer, body) } }
  }
}
