import Foundation

/// Lets any number of threads write, or one of them keep all others from writing.
// @unchecked: `writerCount` and `isShut` are touched only while `condition` is locked.
final class WriterGate: @unchecked Sendable {
  private let condition = NSCondition()
  private var writerCount = 0
  private var isShut = false

  /// Begins to write, after waiting while the gate is shut.
  ///
  /// - Returns: False if the wait took longer than the limit.
  func enter(within limit: Duration) -> Bool {
    condition.withLock {
      guard wait(limit, while: { isShut }) else { return false }
      writerCount += 1
      return true
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
  /// - Returns: False if the wait took longer than the limit.
  func shut(within limit: Duration) -> Bool {
    condition.withLock {
      guard wait(limit, while: { isShut }) else { return false }
      isShut = true
      if wait(limit, while: { writerCount > 0 }) { return true }
      isShut = false
      condition.broadcast()
      return false
    }
  }

  func open() {
    condition.withLock {
      isShut = false
      condition.broadcast()
    }
  }

  private func wait(_ limit: Duration, while isInTheWay: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: limit / .seconds(1))
    while isInTheWay() {
      if !condition.wait(until: deadline) { return !isInTheWay() }
    }
    return true
  }
}
