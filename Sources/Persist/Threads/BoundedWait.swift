import Foundation

/// A wait of the calling thread, with an end: what is waited for, a moment, or cancellation.
package struct BoundedWait: Sendable {
  /// The moment at which the wait is over.
  package let end: ContinuousClock.Instant

  /// Cancellation is looked for this often. A thread that sleeps can't be told of it.
  private static let slice = Duration.milliseconds(20)

  /// A wait that begins now.
  ///
  /// - Parameter limit: how long, the time included that the running work spent in a thread pool's queue.
  package init(_ limit: Duration) {
    end = .now + max(.zero, limit - BlockingWork.timeInQueue)
  }

  package enum State {
    case goingOn, over, cancelled
  }

  package var state: State { isOver ? .over : BlockingWork.isCancelled ? .cancelled : .goingOn }
  package var isOver: Bool { ContinuousClock.now >= end }

  /// Waits for a condition, whose lock is held, to be signalled.
  ///
  /// - Returns: when it was signalled, the wait is over, or it is time to look at ``state`` again.
  func wait(for condition: NSCondition) {
    let left = min(Self.slice, ContinuousClock.now.duration(to: end))
    if left > .zero { _ = condition.wait(until: Date(timeIntervalSinceNow: left / .seconds(1))) }
  }

  /// Sleeps before what is waited for is tried again.
  ///
  /// - Parameter attempt: how often it was tried before.
  func sleep(beforeAttempt attempt: Int) {
    let delays = [1, 2, 5, 10, 15]
    let delay = Duration.milliseconds(attempt < delays.count ? delays[attempt] : 20)
    let left = min(delay, Self.slice, ContinuousClock.now.duration(to: end))
    if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
  }
}
