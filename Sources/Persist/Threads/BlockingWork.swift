import Synchronization

/// A piece of work that a task awaits while a thread of a ``ThreadPool`` runs it.
///
/// Canceling the task affects the work in either state: work that is queued is dropped, and work that is running ends
/// its next wait, such as for another process's lock.
package final class BlockingWork: Sendable {
  private enum Phase {
    /// Waiting for a thread. The closure resumes the task with an error; it is nil until the task is suspended.
    case waiting(fail: (@Sendable (any Error) -> Void)?)
    /// Running, with its start time.
    case running(since: ContinuousClock.Instant)
    /// Dropped before it started.
    case dropped(any Error)
  }

  private struct State {
    var phase = Phase.waiting(fail: nil)
    var isCancelled = false
    /// Whether ``takeWait()`` has returned the wait.
    var isWaitTaken = false
  }

  private let state = LockProtected(State())
  private let added = ContinuousClock.now

  @TaskLocal private static var running: BlockingWork?
  /// Whether any work was ever run: the first use of a task's value of a type takes 25,000 instructions.
  private static let hasRun = Atomic(false)
  /// The work that the running code belongs to; nil outside a thread pool. A relaxed load suffices: whoever began the
  /// work set the flag before.
  private static var current: BlockingWork? { hasRun.load(ordering: .relaxed) ? running : nil }

  /// Runs work in the context of the task that awaits it.
  package typealias ContextRestorer = @Sendable (_ work: () -> Void) -> Void
  /// Captures the awaiting task's context, such as its trace, for the thread that does the work; nil for none.
  package static let context = LockProtected<(@Sendable () -> ContextRestorer?)?>(nil)

  /// Whether the task that awaits the running code has been canceled; outside a thread pool, whether the current task
  /// has been.
  package static var isCancelled: Bool { current?.state.withLock { $0.isCancelled } ?? Task.isCancelled }

  /// The time that the running code waited for its thread.
  package static var timeInQueue: Duration {
    guard let current, case .running(let begun) = current.state.withLock({ $0.phase }) else { return .zero }
    return begun - current.added
  }

  /// The running code's wait for its thread, and the end of that wait; nil if it was returned before.
  package static func takeWait() -> (duration: Duration, end: ContinuousClock.Instant)? {
    guard let current else { return nil }
    return current.state.withLock { state in
      guard case .running(let begun) = state.phase, !state.isWaitTaken else { return nil }
      state.isWaitTaken = true
      return (begun - current.added, begun)
    }
  }

  fileprivate init() {}

  fileprivate func add<Result: Sendable>(
    to pool: ThreadPool, within limit: WaitLimit?, resuming continuation: CheckedContinuation<Result, any Error>,
    _ body: @escaping @Sendable () throws -> Result
  ) {
    let dropped: (any Error)? = state.withLock { state in
      if case .dropped(let error) = state.phase { return error }
      state.phase = .waiting { continuation.resume(throwing: $0) }
      return nil
    }
    if let dropped { return continuation.resume(throwing: dropped) }
    let deadline = limit.map { limit in
      ThreadPool.Deadline(instant: added + limit.duration) { self.drop(limit.error()) }
    }
    let carry = Self.context.withLock { $0 }?()
    Self.hasRun.store(true, ordering: .relaxed)
    let start: @Sendable () -> Void = {
      guard self.begin() else { return }
      continuation.resume(
        with: Swift.Result {
          try Self.$running.withValue(self) {
            guard let carry else { return try body() }
            var result: Swift.Result<Result, any Error>?
            carry { result = Swift.Result { try body() } }
            guard let result else { preconditionFailure("A restorer of contexts didn't run the work.") }
            return try result.get()
          }
        })
    }
    pool.add(start, before: deadline)
  }

  /// Marks the work as running.
  ///
  /// - Returns: false if the work was dropped.
  private func begin() -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .running(since: .now)
      return true
    }
  }

  /// Drops the work with an error if it is still waiting for a thread. Running work continues.
  fileprivate func drop(_ error: any Error) {
    let fail: (@Sendable (any Error) -> Void)? = state.withLock { state in
      guard case .waiting(let fail) = state.phase else { return nil }
      state.phase = .dropped(error)
      return fail
    }
    fail?(error)
  }

  fileprivate func cancel() {
    state.withLock { $0.isCancelled = true }
    drop(CancellationError())
  }
}

/// The longest time that work may wait for a thread, and the error to throw after it.
package struct WaitLimit: Sendable {
  let duration: Duration
  let error: @Sendable () -> any Error

  package init(_ duration: Duration, orThrow error: @autoclosure @escaping @Sendable () -> any Error) {
    self.duration = duration
    self.error = error
  }
}

extension ThreadPool {
  /// Runs a closure on one of the threads; the calling task is suspended until it returns.
  ///
  /// - Parameters:
  ///   - limit: the limit of the wait for a thread; nil for no limit.
  ///   - body: the work, which may block. Its waits end early when ``BlockingWork/isCancelled`` is true.
  /// - Throws: errors of the closure; `CancellationError` if the task was canceled before the closure started; the
  ///   limit's error.
  package func run<Result: Sendable>(
    within limit: WaitLimit? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    let work = BlockingWork()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { work.add(to: self, within: limit, resuming: $0, body) }
    } onCancel: {
      work.cancel()
    }
  }
}
