import Foundation
public import Testing

/// Runs tests on threads of their own, because they wait for other processes, for servers or for time. Swift has one
/// thread for each processor, and a test that blocks one would keep other tests waiting.
public struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
  public let isRecursive = true

  public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(NewThreads.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreadTrait {
  /// Runs a test on a thread of its own while others use Swift's threads.
  public static var onOwnThread: Self { OwnThreadTrait() }
}

/// Runs each part of a task on a new thread.
private final class NewThreads: TaskExecutor {
  static let shared = NewThreads()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
