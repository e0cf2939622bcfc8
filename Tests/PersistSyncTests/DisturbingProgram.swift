import Foundation
import Persist
import PersistTestSupport

@testable import PersistSync

/// A program that saves whenever a replica of the same store has read and not yet written, so that no attempt beside it
/// succeeds.
final class DisturbingProgram: Sendable {
  private struct State {
    var save: (@Sendable (Int) throws -> Void)?
    /// The moments at which the program saves next. Each attempt has each of them once, so that saves don't multiply.
    var due: Set<Moment> = []
    var isSaving = false
    var saves = 0
    var attempts = 0
    var errors: [String] = []
  }

  private enum Moment {
    /// The replica asks for the time, before it reads changes or after it has opened its store.
    case now
    /// The replica reads a transaction of the history.
    case transaction
  }

  private let state = LockProtected(State())

  /// The number of saves.
  var saves: Int { state.withLock { $0.saves } }
  /// The number of times that the replica has opened its store since the program began.
  var attempts: Int { state.withLock { $0.attempts } }
  var errors: [String] { state.withLock { $0.errors } }

  /// - Parameter save: Saves something; called with the number of the save.
  func begin(_ save: @escaping @Sendable (Int) throws -> Void) {
    state.withLock { ($0.save, $0.attempts) = (save, 0) }
  }

  /// Ends the program, after a save that waits for the replica.
  func end() {
    state.withLock { $0.save = nil }
    while state.withLock({ $0.isSaving }) { Thread.sleep(forTimeInterval: 0.001) }
  }

  /// The sources of a replica that is disturbed.
  var sources: SyncSources {
    SyncSources(
      now: {
        self.disturb(.now)
        return Date()
      },
      time: {
        self.disturb(.transaction)
        return $0.timestamp
      },
      storeName: {
        self.state.withLock { state in
          state.attempts += 1
          state.due = [.now, .transaction]
        }
        return $0
      })
  }

  /// Saves on another thread, and waits for the end unless that waits for the replica.
  private func disturb(_ moment: Moment) {
    let next = state.withLock { state -> (number: Int, save: @Sendable (Int) throws -> Void)? in
      guard !state.isSaving, let save = state.save, state.due.remove(moment) != nil else { return nil }
      state.isSaving = true
      state.saves += 1
      return (state.saves, save)
    }
    guard let next else { return }
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try next.save(next.number) } catch { self.state.withLock { $0.errors.append("\(error)") } }
      self.state.withLock { $0.isSaving = false }
      end.signal()
    }
    _ = end.wait(timeout: .now() + 0.1)
  }
}
