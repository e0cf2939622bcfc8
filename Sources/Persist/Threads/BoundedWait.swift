package import Foundation

/// A wait of the calling thread that ends when its condition is met, at a deadline, or on cancellation.
///
/// A class, because only Swift's library knows the size of an instant: the runtime would have to find the places of the
/// fields in every class that has a wait, when the class is first used.
package final class BoundedWait: Sendable {
  /// The deadline.
  package let end: ContinuousClock.Instant

  /// The interval at which cancellation is checked. A sleeping thread can't be notified of it.
  static let slice = Duration.milliseconds(20)

  /// Creates a wait that starts now.
  ///
  /// - Parameter limit: the maximum duration, including the time that the running work spent in a thread pool's queue.
  package init(_ limit: Duration) {
    end = .now + max(.zero, limit - BlockingWork.timeInQueue)
  }

  package enum State {
    case goingOn, over, cancelled
  }

  package var state: State {
    @inline(never) get { isOver ? .over : BlockingWork.isCancelled ? .cancelled : .goingOn }
  }
  package var isOver: Bool { ContinuousClock.now >= end }

  /// Waits for a condition, whose lock is held, to be signaled.
  ///
  /// Returns when it is signaled, when the wait is over, or when it is time to check ``state`` again.
  package func wait(for condition: NSCondition) {
    let left = min(Self.slice, ContinuousClock.now.duration(to: end))
    guard left > .zero else { return }
    _ = ThreadPool.whileWaiting { condition.wait(until: Date(timeIntervalSinceNow: left / .seconds(1))) }
  }

  /// Sleeps before the next attempt.
  ///
  /// The intervals are short, since another program may use a lock again soon: the conversion of rows leaves it for 8
  /// milliseconds at a time.
  ///
  /// - Parameter attempt: the number of previous attempts.
  @inline(never)
  func sleep(beforeAttempt attempt: Int) {
    let delay = Duration.milliseconds(min(attempt + 1, 5))
    let left = min(delay, ContinuousClock.now.duration(to: end))
    if left > .zero { ThreadPool.whileWaiting { Thread.sleep(forTimeInterval: left / .seconds(1)) } }
  }
}
