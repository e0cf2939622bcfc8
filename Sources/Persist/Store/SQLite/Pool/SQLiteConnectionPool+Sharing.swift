import Foundation

/// A save that waits for the writer, and that the thread with the turn may run in its own transaction meanwhile.
// @unchecked: the thread that it belongs to creates it and waits. The thread that removes it from the list of waiting
// ones runs it and sets the outcome before it admits the first thread, which then reads the outcome.
final class JoiningWrite: @unchecked Sendable {
  enum Outcome {
    /// It was committed with the others, or failed by itself.
    case complete
    /// It was rolled back because of the others, or of their commit.
    case undone
  }

  let thread = WaitingThread()
  private(set) var outcome: Outcome?
  /// Nil once nobody may run it any longer.
  private var body: ((SQLiteConnection) -> Void)?

  init(_ body: @escaping (SQLiteConnection) -> Void) { self.body = body }

  func run(on connection: SQLiteConnection) { body?(connection) }

  /// Lets the thread that it belongs to go on.
  func finish(_ outcome: Outcome) {
    self.outcome = outcome
    discardBody()
    thread.admit()
  }

  func discardBody() { body = nil }
}

/// Saves that share a transaction.
///
/// A commit takes longer than most saves, above all if it waits for the disk, and so does waking a thread. A thread
/// whose save ends while others wait for the turn therefore leaves its transaction open and runs their saves too, each
/// in a savepoint, so that it fails alone. Then it commits for all. Each save returns after this commit.
///
/// Only saves that already waited when the first one ended join, so that no save waits without bound. A save for which
/// none waits commits at once, by the same statements as ever.
extension SQLiteConnectionPool {
  /// Writes as ``write(_:)`` does, in a transaction that may contain the writes of other callers of this function.
  ///
  /// - Parameter body: Called by any thread, and again if the transaction was rolled back because of others.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func writeSharing<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if url == nil || isReadOnly || WriteReservation.isHeld(of: self) { return try write(body) }
    return try following { pool in
      defer { pool.shared.recordChange() }
      if pool.turn.tryBegin() { return try pool.writeFirst(nil, body) }
      return try withoutActuallyEscaping(body) { try pool.writeAfterWaiting($0) }
    }
  }

  /// Waits for the turn, or until the thread that has it has run a save.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func writeAfterWaiting<T>(_ body: @escaping (SQLiteConnection) throws -> T) throws -> T {
    var result: Result<T, any Error>?
    var statementCount = 0
    let joining = JoiningWrite { writer in
      let executed = writer.counts.executed
      result = Result { try self.runJoining(body, on: writer) }
      statementCount = writer.counts.executed - executed
    }
    // The thread that ended the turn may still refer to it.
    defer { joining.discardBody() }
    let wait = try beginTurn(options.busyTimeout, joining: joining)
    guard let outcome = joining.outcome else { return try writeFirst(wait, body) }
    instrument?.executed(statements: statementCount)
    guard outcome == .complete, let result else { return try write(body) }
    return try result.get()
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func runJoining<T>(_ body: (SQLiteConnection) throws -> T, on writer: SQLiteConnection) throws -> T {
    try requireOpen()
    // Waits of this save don't continue the one of the thread that runs it.
    writer.waits.begun = nil
    return try explaining(writer) {
      try writer.transaction {
        try requireUnchanged(writer)
        return try body(writer)
      }
    }
  }

  /// Runs a save in a transaction, and those of waiting threads after it. Ends the turn.
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
    return try writeOthers(on: writer, wait) ? value : write(body)
  }

  /// Runs the saves of threads that wait, commits the transaction, even if the pool was closed meanwhile, and ends the
  /// turn.
  ///
  /// - Returns: False if everything was rolled back because of others.
  /// - Throws: The error of the commit, if there were no others after all.
  private func writeOthers(on writer: SQLiteConnection, _ wait: BoundedWait?) throws -> Bool {
    var others: [JoiningWrite] = []
    let places = turn.waitingCount
    // After some errors, such as a full disk, SQLite has rolled everything back.
    while others.count < places, writer.isInTransaction, let next = turn.takeJoining() {
      next.run(on: writer)
      others.append(next)
    }
    let culprit = writer.isInTransaction ? nil : others.last
    let commit = Result {
      guard culprit == nil else { return false }
      try working(on: writer, wait: wait) { try writer.commitTransaction() }
      writtenVersion = writer.dataVersion
      return true
    }
    let isCommitted = (try? commit.get()) == true
    turn.end()
    for other in others { other.finish(isCommitted || other === culprit ? .complete : .undone) }
    return others.isEmpty ? try commit.get() : isCommitted
  }

  /// Runs a part of the transaction.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func working<T>(on writer: SQLiteConnection, wait: BoundedWait?, _ body: () throws -> T) throws -> T {
    try writer.waiting(wait) { try observed(writer) { _ in try explaining(writer, body) } }
  }
}
