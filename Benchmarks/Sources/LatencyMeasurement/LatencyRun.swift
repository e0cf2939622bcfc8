import Foundation

/// The threads of one measurement.
///
/// `@unchecked Sendable`: what changes is only accessed while the condition is locked.
final class LatencyRun: @unchecked Sendable {
  static let clock = ContinuousClock()

  private let threadCount: Int
  private let condition = NSCondition()
  private let ended = DispatchGroup()
  private let stop = Stop()
  private var readyCount = 0
  private var times: [Duration] = []
  private var saves = 0
  private var start = clock.now
  private var failure: (any Error)?

  init(threads: Int) { threadCount = threads }

  /// The end of all threads' work.
  ///
  /// `@unchecked Sendable`: the value is only accessed while the condition is locked.
  final class Stop: @unchecked Sendable {
    private let condition = NSCondition()
    private var hasCome = false

    var isReached: Bool { condition.withLock { hasCome } }

    func reach() {
      condition.withLock {
        hasCome = true
        condition.broadcast()
      }
    }

    /// Waits, at most until the end.
    func wait(_ duration: Duration) {
      let end = Date(timeIntervalSinceNow: duration / .seconds(1))
      condition.withLock {
        while !hasCome, condition.wait(until: end) {}
      }
    }
  }

  /// Runs a thread. Its error ends all others.
  func start(_ body: @escaping @Sendable (Stop) throws -> Void) {
    ended.enter()
    let thread = Thread { [self] in
      do { try body(stop) } catch {
        condition.withLock {
          failure = failure ?? error
          condition.broadcast()
        }
        stop.reach()
      }
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
