/// Lets a read be watched and stopped from any thread.
///
/// One monitor serves one piece of work, which may read several times.
final class ReadMonitor: Sendable {
  private struct State {
    var isCancelled = false
    var rows = 0
    /// Stops the statement that runs; nil while none does.
    var interrupt: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())
  private let report: (@Sendable (Int) -> Void)?

  /// - Parameter report: is told how many rows were read so far, every now and then.
  init(report: (@Sendable (Int) -> Void)? = nil) { self.report = report }

  /// Runs a read that can be stopped.
  ///
  /// - Throws: `CancellationError` where it was.
  func run<T>(interrupting interrupt: @escaping @Sendable () -> Void, _ body: () throws -> T) throws -> T {
    try state.withLock { state in
      if state.isCancelled { throw CancellationError() }
      state.interrupt = interrupt
    }
    // Under the lock, so that a connection isn't interrupted any more once it does something else.
    defer { state.withLock { $0.interrupt = nil } }
    do {
      return try body()
    } catch let error as PersistenceError where error.code == .interrupted {
      throw CancellationError()
    }
  }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.interrupt?()
    }
  }

  func note(rows: Int) {
    guard let report else { return }
    report(
      state.withLock { state in
        state.rows += rows
        return state.rows
      })
  }
}
