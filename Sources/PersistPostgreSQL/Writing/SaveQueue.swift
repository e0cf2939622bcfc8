import Foundation
import Persist

/// Lets saves of several threads that meet share a transaction.
///
/// A save takes a round trip, and some statements of the server's own, however little it changes. While as many saves
/// run as the server executes at once, others wait, and are then written together, by the thread that has waited
/// longest. A save that meets no others is written at once, by the same statements as ever.
///
/// Conflicts and failures remain each save's own: a group that fails is written again without the saves that others
/// have overtaken, or save by save.
// @unchecked: `runningCount` and `waiting` are touched only while `lock` is held.
final class SaveQueue: @unchecked Sendable {
  /// A thread that waits with its save.
  // @unchecked: `turn` is set before the thread is admitted, and read by that thread afterward.
  private final class Waiting: @unchecked Sendable {
    let thread = WaitingThread()
    let writes: RowWrites
    private(set) var turn = Turn.alone

    init(_ writes: RowWrites) { self.writes = writes }

    func receive(_ turn: Turn) {
      self.turn = turn
      thread.admit()
    }
  }

  private enum Turn {
    /// Write these, of which the first is the thread's own.
    case group([Waiting])
    case alone
    case written(CommitReceipt)
    /// The error of a commit with an unknown outcome.
    case failed(any Error)
  }

  /// The number of saves or groups that are written at once.
  private let capacity: Int
  private let lock = NSLock()
  private var runningCount = 0
  private var waiting: [Waiting] = []

  init(capacity: Int) { self.capacity = capacity }

  /// The number of threads that wait.
  var waitingCount: Int { lock.withLock { waiting.count } }

  /// Writes a save, alone or together with others.
  ///
  /// - Parameters:
  ///   - limit: The maximum time to wait for a turn.
  ///   - alone: Writes one save.
  ///   - together: Writes a group in one transaction.
  /// - Throws: The errors of `alone`, and ``Ended`` if the wait ended before the turn.
  func write(
    _ writes: RowWrites, within limit: Duration, instrument: (any StoreInstrument)?,
    alone: (RowWrites) throws -> CommitReceipt, together: (RowWrites) throws -> CommitReceipt
  ) throws -> CommitReceipt {
    let own = Waiting(writes)
    let isFirst = lock.withLock {
      guard runningCount >= capacity else {
        runningCount += 1
        return true
      }
      waiting.append(own)
      return false
    }
    guard !isFirst else {
      defer { passTurn() }
      return try alone(writes)
    }
    switch try turn(of: own, within: limit, instrument) {
    case .alone: return try alone(writes)
    case .written(let receipt): return receipt
    case .failed(let error): throw error
    case .group(let saves):
      defer { passTurn() }
      return try lead(saves, together) ?? alone(writes)
    }
  }

  /// The wait for a turn ended before.
  struct Ended: Error {
    let state: BoundedWait.State
  }

  private func turn(
    of own: Waiting, within limit: Duration, _ instrument: (any StoreInstrument)?
  ) throws -> Turn {
    let begun = instrument.map { _ in ContinuousClock.now }
    defer { if let begun { instrument?.waited(for: .writer, .now - begun) } }
    let state = own.thread.wait(BoundedWait(limit))
    guard state != .goingOn else { return own.turn }
    let isWithdrawn = lock.withLock {
      let place = waiting.firstIndex { $0 === own }
      if let place { waiting.remove(at: place) }
      return place != nil
    }
    if isWithdrawn { throw Ended(state: state) }
    // Another thread is writing this save already, and will report its outcome.
    _ = own.thread.wait(nil)
    return own.turn
  }

  /// Writes a group, and gives the other threads their results.
  ///
  /// - Returns: The result of the first save; nil if it has to be written alone.
  private func lead(_ saves: [Waiting], _ together: (RowWrites) throws -> CommitReceipt) throws -> CommitReceipt? {
    var saves = saves
    let own = saves[0]
    func leaveAlone(_ isAlone: (Waiting) -> Bool) {
      for save in saves where save !== own && isAlone(save) { save.receive(.alone) }
      saves.removeAll(where: isAlone)
    }
    while saves.count > 1 {
      let group = SaveGroup(saves.map(\.writes))
      do {
        let receipts = group.receipts(try together(group.writes))
        for (save, receipt) in zip(saves, receipts) where save !== own { save.receive(.written(receipt)) }
        return saves[0] === own ? receipts[0] : nil
      } catch let found as RowConflicts {
        let count = saves.count
        leaveAlone { save in found.conflicts.contains { save.writes.has($0) } }
        if saves.count == count { break }
      } catch let error as PersistenceError where error.code == .saveFailed {
        for save in saves where save !== own { save.receive(.failed(error)) }
        if saves[0] === own { throw error }
        return nil
      } catch { break }
    }
    leaveAlone { _ in true }
    return nil
  }

  /// Lets the next threads write.
  private func passTurn() {
    let group = lock.withLock {
      let group = SaveGroup.take(from: &waiting, \.writes)
      if group.isEmpty { runningCount -= 1 }
      return group
    }
    group.first?.receive(.group(group))
  }
}
