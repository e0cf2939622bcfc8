import Foundation

/// Reads performed on one of the store's threads while a task awaits them.
enum BackgroundRead {
  /// Runs a read on one of the coordinator's threads. Canceling the task or the progress interrupts its statement.
  ///
  /// - Throws: `CancellationError` if the read was canceled.
  static func run<T: Sendable>(
    on threads: StoreThreads, _ progress: Progress?, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (ReadMonitor) throws -> T
  ) async throws -> T {
    let monitor = monitor(progress)
    progress?.cancellationHandler = { monitor.cancel() }
    defer { progress?.cancellationHandler = nil }
    if progress?.isCancelled == true { throw CancellationError() }
    return try await withTaskCancellationHandler {
      try await threads.reading.run { try body(monitor) }
    } onCancel: {
      monitor.cancel()
    }
  }

  private static func monitor(_ progress: Progress?) -> ReadMonitor {
    guard let progress else { return ReadMonitor() }
    progress.totalUnitCount = -1
    return ReadMonitor { rows in progress.completedUnitCount = Int64(rows) }
  }
}
