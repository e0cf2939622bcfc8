/// Monitors a read and can cancel it from any thread.
///
/// One monitor serves one operation, which may consist of several reads.
package final class ReadMonitor: Sendable {
  private struct State {
    var isCancelled = false
    var rows = 0
    /// Interrupts the running statement; nil if none is running.
    var interrupt: (@Sendable () -> Void)?
  }

  private let state = LockProtected(State())
  private let report: (@Sendable (Int) -> Void)?

  /// - Parameter report: Called from time to time with the number of rows read so far.
  package init(report: (@Sendable (Int) -> Void)? = nil) { self.report = report }

  /// Runs a read that can be canceled.
  ///
  /// - Throws: `CancellationError` if it was canceled.
  package func run<T>(interrupting interrupt: @escaping @Sendable () -> Void, _ body: () throws -> T) throws -> T {
    try state.withLock { state in
      if state.isCancelled { throw CancellationError() }
      state.interrupt = interrupt
    }
    // Cleared under the lock, so that a connection is never interrupted during later work.
    defer { state.withLock { $0.interrupt = nil } }
    do {
      return try body()
    } catch let error as PersistenceError where error.code == .interrupted {
      throw CancellationError()
    }
  }

  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.interrupt?()
    }
  }

  package func count(rows: Int) {
    guard let report else { return }
    report(
      state.withLock { state in
        state.rows += rows
        return state.rows
      })
  }
}
