import Foundation
import Persist

/// Lets any number of threads write, or one of them keep all others from writing.
// @unchecked: `writerCount` and `isShut` are touched only while `condition` is locked.
final class WriterGate: @unchecked Sendable {
  private let condition = NSCondition()
  private var writerCount = 0
  private var isShut = false

  /// Begins to write, after waiting while the gate is shut.
  ///
  /// - Returns: `.goingOn` if the caller may write, otherwise the reason why it may not.
  func enter(within limit: Duration) -> BoundedWait.State {
    condition.withLock {
      let state = wait(limit, while: { isShut })
      if state == .goingOn { writerCount += 1 }
      return state
    }
  }

  func leave() {
    condition.withLock {
      writerCount -= 1
      condition.broadcast()
    }
  }

  /// Keeps further threads from writing, and waits for those that do. A thread that succeeds opens the gate again.
  ///
  /// - Returns: `.goingOn` if the gate is shut, otherwise the reason why it isn't.
  func shut(within limit: Duration) -> BoundedWait.State {
    condition.withLock {
      var state = wait(limit, while: { isShut })
      guard state == .goingOn else { return state }
      isShut = true
      state = wait(limit, while: { writerCount > 0 })
      guard state != .goingOn else { return state }
      isShut = false
      condition.broadcast()
      return state
    }
  }

  func open() {
    condition.withLock {
      isShut = false
      condition.broadcast()
    }
  }

  private func wait(_ limit: Duration, while isInTheWay: () -> Bool) -> BoundedWait.State {
    guard isInTheWay() else { return .goingOn }
    let wait = BoundedWait(limit)
    while isInTheWay() {
      let state = wait.state
      guard state == .goingOn else { return state }
      wait.wait(for: condition)
    }
    return .goingOn
  }
}
