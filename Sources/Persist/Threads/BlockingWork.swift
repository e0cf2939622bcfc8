/// A piece of work that a task awaits while a thread of a ``ThreadPool`` carries it out.
///
/// Cancelling the task reaches the work in both of its states: work that waits for a thread is dropped, and work that
/// has begun ends its next wait, such as the one for another process's lock.
package final class BlockingWork: Sendable {
  private enum Phase {
    /// Waiting for a thread. The closure resumes the task with an error; nil until the task is suspended.
    case waiting(fail: (@Sendable (any Error) -> Void)?)
    /// Running since a moment.
    case running(since: ContinuousClock.Instant)
    /// Dropped before it began.
    case dropped(any Error)
  }

  private struct State {
    var phase = Phase.waiting(fail: nil)
    var isCancelled = false
  }

  private let state = Guarded(State())
  private let added = ContinuousClock.now

  /// The work that the running code belongs to; nil outside of a thread pool.
  @TaskLocal private static var current: BlockingWork?

  /// Whether the task that awaits the running code has been cancelled; outside of a thread pool, whether the task that
  /// runs the code has been.
  package static var isCancelled: Bool { current?.state.withLock { $0.isCancelled } ?? Task.isCancelled }

  /// How long the running code had to wait for its thread.
  package static var timeInQueue: Duration {
    guard let current, case .running(let begun) = current.state.withLock({ $0.phase }) else { return .zero }
    return begun - current.added
  }

  fileprivate init() {}

  fileprivate func add<Result: Sendable>(
    to pool: ThreadPool, resuming continuation: CheckedContinuation<Result, any Error>,
    _ body: @escaping @Sendable () throws -> Result
  ) {
    let dropped: (any Error)? = state.withLock { state in
      if case .dropped(let error) = state.phase { return error }
      state.phase = .waiting { continuation.resume(throwing: $0) }
      return nil
    }
    if let dropped { return continuation.resume(throwing: dropped) }
    pool.add {
      guard self.begin() else { return }
      continuation.resume(with: Swift.Result { try Self.$current.withValue(self, operation: body) })
    }
  }

  /// - Returns: whether there is anything to do; not where the work was dropped.
  private func begin() -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .running(since: .now)
      return true
    }
  }

  /// Ends the wait for a thread with an error. Work that has begun goes on.
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

/// How long work may wait for a thread, and the error of a longer wait.
package struct WaitLimit: Sendable {
  let duration: Duration
  let error: any Error

  package init(_ duration: Duration, orThrow error: any Error) {
    self.duration = duration
    self.error = error
  }
}

extension ThreadPool {
  /// Runs a closure on one of the threads; the calling task is suspended until it returns.
  ///
  /// - Parameters:
  ///   - limit: bounds the wait for a thread; nil for any time.
  ///   - body: may block. Waits in it end early where ``BlockingWork/isCancelled`` says so.
  /// - Throws: what the closure throws; `CancellationError` where the task was cancelled before the closure began; the
  ///   limit's error.
  package func run<Result: Sendable>(
    within limit: WaitLimit? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    let work = BlockingWork()
    let timer = limit.map { limit in
      Task.detached {
        try await Task.sleep(for: limit.duration)
        work.drop(limit.error)
      }
    }
    defer { timer?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { work.add(to: self, resuming: $0, body) }
    } onCancel: {
      work.cancel()
    }
  }
}
