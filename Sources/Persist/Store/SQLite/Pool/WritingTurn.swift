import DequeModule
import Foundation

/// Grants one thread at a time the right to write, in order of request.
///
/// Unlike a lock, waiting ends with a deadline or with cancellation, and a thread may end a turn that another thread
/// began.
// @unchecked: `isTaken` and `applicants` are touched only while `lock` is held, `hasTurn` only while its condition is.
final class WritingTurn: @unchecked Sendable {
  /// A waiting thread.
  private final class Applicant {
    let condition = NSCondition()
    var hasTurn = false
  }

  private let lock = NSLock()
  private var isTaken = false
  private var applicants: Deque<Applicant> = []

  /// Waits for the turn.
  ///
  /// - Parameter wait: Called when waiting begins; returns the limits of the wait, or nil for none.
  /// - Returns: `.goingOn` if the caller has the turn, otherwise the reason why it doesn't.
  func begin(_ wait: () -> BoundedWait?) -> BoundedWait.State {
    lock.lock()
    guard isTaken else {
      isTaken = true
      lock.unlock()
      return .goingOn
    }
    let applicant = Applicant()
    applicants.append(applicant)
    lock.unlock()

    let wait = wait()
    applicant.condition.lock()
    while !applicant.hasTurn {
      guard let wait else {
        applicant.condition.wait()
        continue
      }
      let state = wait.state
      guard state == .goingOn else {
        applicant.condition.unlock()
        return withdraw(applicant) ? state : .goingOn
      }
      wait.wait(for: applicant.condition)
    }
    applicant.condition.unlock()
    return .goingOn
  }

  /// Acquires the turn if it is free.
  func tryBegin() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if isTaken { return false }
    isTaken = true
    return true
  }

  /// Passes the turn to the thread that has waited longest.
  func end() {
    lock.lock()
    let next = applicants.popFirst()
    isTaken = next != nil
    lock.unlock()
    guard let next else { return }
    next.condition.lock()
    next.hasTurn = true
    next.condition.signal()
    next.condition.unlock()
  }

  /// The number of waiting threads.
  var waitingCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return applicants.count
  }

  /// - Returns: False if the turn was passed before the applicant could withdraw.
  private func withdraw(_ applicant: Applicant) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard let index = applicants.firstIndex(where: { $0 === applicant }) else { return false }
    applicants.remove(at: index)
    return true
  }
}
