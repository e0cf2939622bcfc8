import Foundation

/// The threads of one measurement.
///
/// `@unchecked Sendable`: what changes is only accessed while the condition is locked.
final class LatencyRun: @unchecked Sendable {
  static let clock = ContinuousClock()

  private let threadCount: Int
  private let condition = NSCondition()
  private let ended = DispatchGroup()
  private var readyCount = 0
  private var hasStopped = false
  private var times: [Duration] = []
  private var saves = 0
  private var start = clock.now
  private var failure: (any Error)?

  init(threads: Int) { threadCount = threads }

  var isStopped: Bool { condition.withLock { hasStopped } }

  /// Ends all threads' work.
  func stop() { stop(because: nil) }

  private func stop(because error: (any Error)?) {
    condition.withLock {
      hasStopped = true
      failure = failure ?? error
      condition.broadcast()
    }
  }

  /// Waits, at most until the end.
  func wait(_ duration: Duration) {
    let end = Date(timeIntervalSinceNow: duration / .seconds(1))
    condition.withLock {
      while !hasStopped, condition.wait(until: end) {}
    }
  }

  /// Runs a thread. Its error ends all others.
  func start(_ body: @escaping @Sendable () throws -> Void) {
    ended.enter()
    let thread = Thread { [self] in
      do { try body() } catch { stop(because: error) }
      ended.leave()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Waits until all threads have a session.
  ///
  /// - Throws: `CancellationError` if one of them failed.
  func waitForAll() throws {
    try condition.withLock {
      readyCount += 1
      if readyCount == threadCount { start = Self.clock.now }
      condition.broadcast()
      while readyCount < threadCount, failure == nil { condition.wait() }
      if failure != nil { throw CancellationError() }
    }
  }

  func add(_ times: [Duration], isMeasured: Bool, saves: Int) {
    condition.withLock {
      if isMeasured { self.times += times }
      self.saves += saves
    }
  }

  /// Waits for the end of all threads.
  func result() throws -> LatencyResult {
    ended.wait()
    return try condition.withLock {
      if let failure { throw failure }
      return LatencyResult(times: times, savesPerSecond: Double(saves) / (start.duration(to: Self.clock.now) / .seconds(1)))
    }
  }
}
