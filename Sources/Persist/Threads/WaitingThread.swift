import Foundation

/// A thread that waits until another one admits it.
///
/// Both find it in a list that has a lock of its own: whoever takes it from the list admits it.
// @unchecked: `isAdmitted` is accessed only while `condition` is locked.
package final class WaitingThread: @unchecked Sendable {
  private let condition = NSCondition()
  private var isAdmitted = false

  package init() {}

  /// Lets the thread go on, after it was removed from the list.
  package func admit() {
    condition.lock()
    isAdmitted = true
    condition.signal()
    condition.unlock()
  }

  /// Waits until the thread is admitted.
  ///
  /// - Parameters:
  ///   - wait: The limits of the wait; nil for none.
  ///   - heedsCancellation: Whether canceling the running task ends the wait.
  ///   - look: Called between waits of a few milliseconds.
  /// - Returns: `.goingOn` if the thread was admitted, otherwise the reason why it no longer waits. It may be admitted
  ///   as long as it is in the list.
  package func wait(
    _ wait: BoundedWait?, heedsCancellation: Bool = true, look: () -> Void = {}
  ) -> BoundedWait.State {
    condition.lock()
    defer { condition.unlock() }
    while !isAdmitted {
      if let state = wait?.state, state == .over || state == .cancelled && heedsCancellation { return state }
      if let wait {
        wait.wait(for: condition)
      } else {
        _ = ThreadPool.whileWaiting {
          condition.wait(until: Date(timeIntervalSinceNow: BoundedWait.slice / .seconds(1)))
        }
      }
      condition.unlock()
      look()
      condition.lock()
    }
    return .goingOn
  }
}
