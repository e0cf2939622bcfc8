import Dispatch
import Foundation

/// Reading that blocks, on a thread that may.
enum BackgroundRead {
  /// Runs a read elsewhere; when the task is cancelled, or its progress, the statement that runs is interrupted.
  ///
  /// - Throws: `CancellationError` where it was.
  static func run<T: Sendable>(
    _ progress: Progress?, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (ReadMonitor) throws -> T
  ) async throws -> T {
    let monitor = monitor(progress)
    progress?.cancellationHandler = { monitor.cancel() }
    defer { progress?.cancellationHandler = nil }
    if progress?.isCancelled == true { throw CancellationError() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try body(monitor) })
        }
      }
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
