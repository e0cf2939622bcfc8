import Foundation

/// Grants one thread at a time the right to write, in order of request.
///
/// Unlike a lock, waiting ends with a deadline or with cancellation, and a thread may end a turn that another thread
/// began. The thread that has the turn may also do the work of a waiting one.
// @unchecked: `isTaken`, `applicants` and `reserved` are touched only while `lock` is held.
final class WritingTurn: @unchecked Sendable {
  private struct Applicant {
    let thread: WaitingThread
    /// The thread's save; nil for other work, which only the thread itself can do.
    let joining: JoiningWrite?
  }

  private let lock = NSLock()
  private var isTaken = false
  private var applicants = WorkQueue<Applicant>()
  /// The reservation that has the turn; nil for none.
  private var reserved: Reserved?

  /// A class for the same reason as ``BoundedWait``.
  private final class Reserved: Sendable {
    let reservation: WriteReservation
    /// The time from which waiting threads may take it back.
    let end: ContinuousClock.Instant

    init(_ reservation: WriteReservation, _ patience: Duration) {
      self.reservation = reservation
      end = .now + patience
    }
  }

  /// Waits for the turn.
  ///
  /// - Parameters:
  ///   - joining: The caller's save, if another thread may run it; see ``takeJoining()``.
  ///   - wait: Called when waiting begins; returns the limits of the wait, or nil for none.
  /// - Returns: `.goingOn` if the caller has the turn or its save was run, otherwise the reason why it doesn't.
  @inline(never)
  func begin(joining: JoiningWrite? = nil, _ wait: () -> BoundedWait?) -> BoundedWait.State {
    lock.lock()
    guard isTaken else {
      isTaken = true
      lock.unlock()
      return .goingOn
    }
    let applicant = Applicant(thread: joining?.thread ?? WaitingThread(), joining: joining)
    applicants.append(applicant)
    lock.unlock()

    let state = applicant.thread.wait(wait(), look: takeBackReservation)
    guard state != .goingOn else { return .goingOn }
    if withdraw(applicant) { return state }
    // Another thread passes the turn to this one, or runs its save already.
    return applicant.thread.wait(nil)
  }

  /// Leaves the turn to a reservation, whose release ends it.
  ///
  /// - Parameter patience: The time that other threads wait for the reservation to be used before they take it back.
  func reserve(for reservation: WriteReservation, _ patience: Duration) {
    lock.lock()
    reserved = Reserved(reservation, patience)
    lock.unlock()
  }

  /// Takes back a reservation that hasn't been used in time: the thread that it is for may be the calling one.
  private func takeBackReservation() {
    lock.lock()
    let due = reserved.flatMap { .now >= $0.end ? $0.reservation : nil }
    lock.unlock()
    due?.takeBack()
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
    reserved = nil
    let next = applicants.popFirst()
    isTaken = next != nil
    lock.unlock()
    next?.thread.admit()
  }

  /// Whether the thread that has waited longest has a save that another one may run.
  var isNextJoining: Bool {
    lock.lock()
    defer { lock.unlock() }
    return applicants.first?.joining != nil
  }

  /// Removes the thread that has waited longest if it has a save, which the caller runs and finishes.
  func takeJoining() -> JoiningWrite? {
    lock.lock()
    defer { lock.unlock() }
    return applicants.first?.joining == nil ? nil : applicants.popFirst()?.joining
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
    let count = applicants.count
    applicants.removeAll { $0.thread === applicant.thread }
    return applicants.count < count
  }
}
