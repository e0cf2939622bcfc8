import Foundation

/// A pool of Persist's own threads, for work that may block.
///
/// Swift's tasks share a few threads. On Linux and Windows, Dispatch's queues use the same ones: a closure that waits
/// there for a locked file stalls unrelated tasks. The threads of a pool are separate from both. They start when work
/// is waiting, up to a limit, and end after being idle for a while.
package final class ThreadPool: Sendable {
  private let workers: Workers

  /// The latest time for work to start.
  struct Deadline: Sendable {
    let instant: ContinuousClock.Instant
    /// Called in place of the work, if no thread was free for it before.
    let expire: @Sendable () -> Void
  }

  /// - Parameters:
  ///   - name: the name of every thread, for debuggers.
  ///   - maximum: the maximum number of threads; further work waits for one of them, in order of arrival.
  ///   - idleTime: how long an idle thread stays alive.
  package init(name: String, maximum: Int, idleTime: Duration = .seconds(5)) {
    workers = Workers(name: name, maximum: maximum, idleTime: idleTime)
  }

  deinit { workers.end() }

  /// Runs work on one of the threads, after all previously added work has started.
  package func add(_ work: @escaping @Sendable () -> Void) { add(work, before: nil) }

  func add(_ work: @escaping @Sendable () -> Void, before deadline: Deadline?) {
    workers.add(Workers.Entry(work: work, deadline: deadline))
  }

  /// Whether no work is running or waiting.
  package var isIdle: Bool { workers.isIdle }
  /// The current number of threads.
  package var threadCount: Int { workers.threadCount }
  /// The number of timers started for deadlines, for tests.
  var timerCount: Int { workers.timerCount }
}

/// The queue of a pool and the threads that drain it. The threads keep the queue alive but not the pool, so that they
/// end when the pool is deallocated.
// @unchecked: all mutable state is accessed only while `condition` is locked.
private final class Workers: @unchecked Sendable {
  struct Entry: Sendable {
    let work: @Sendable () -> Void
    let deadline: ThreadPool.Deadline?
  }

  private let name: String
  private let maximum: Int
  private let idleTime: Duration
  private let condition = NSCondition()
  private var queue = WorkQueue<Entry>()
  private var count = 0
  private var idleCount = 0
  private var hasEnded = false
  /// The next time at which a timer examines the queue's deadlines; nil without a timer.
  private var nextExamination: ContinuousClock.Instant?
  private var startedTimers = 0

  init(name: String, maximum: Int, idleTime: Duration) {
    precondition(maximum > 0, "A pool without threads would never do its work.")
    self.name = name
    self.maximum = maximum
    self.idleTime = idleTime
  }

  var threadCount: Int { locked { count } }
  var isIdle: Bool { locked { queue.isEmpty && idleCount == count } }
  var timerCount: Int { locked { startedTimers } }

  private func locked<T>(_ body: () -> T) -> T {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }

  func add(_ entry: Entry) {
    let wakesThread = locked {
      queue.append(entry)
      if idleCount >= queue.count { return true }
      if count < maximum {
        count += 1
        startThread()
      } else if let deadline = entry.deadline?.instant, !isExamined(by: deadline) {
        startTimer(deadline)
      }
      return false
    }
    // After unlocking: a thread that wakes up before would only wait for the lock.
    if wakesThread { condition.signal() }
  }

  /// Whether a timer examines the deadlines at an instant at the latest.
  private func isExamined(by deadline: ContinuousClock.Instant) -> Bool {
    nextExamination.map { $0 <= deadline } ?? false
  }

  /// Makes the threads end once all added work is done.
  func end() {
    condition.lock()
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }

  private func startThread() {
    let thread = Thread { while let work = self.next() { work() } }
    thread.name = name
    // The same size as the main thread's: predicates and models nest, and other platforms give secondary threads far
    // less.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Returns the next work, waiting for it if necessary; nil if the thread should end.
  private func next() -> (@Sendable () -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    if let entry = queue.popFirst() { return entry.work }
    let end = Date(timeIntervalSinceNow: idleTime / .seconds(1))
    while true {
      idleCount += 1
      let isInTime = !hasEnded && condition.wait(until: end)
      idleCount -= 1
      if let entry = queue.popFirst() { return entry.work }
      if !isInTime {
        count -= 1
        return nil
      }
    }
  }

  /// Starts a task that examines the deadlines of waiting work from the given time until there are none.
  ///
  /// A timer of its own for all work would cost more than most of the work does.
  private func startTimer(_ first: ContinuousClock.Instant) {
    nextExamination = first
    startedTimers += 1
    Task.detached {
      var time: ContinuousClock.Instant? = first
      while let now = time {
        // In parts: a task can't sleep for all times that a duration can express.
        try? await Task.sleep(until: min(now, ContinuousClock.now + .seconds(3600)), clock: .continuous)
        time = self.examineDeadlines(expected: now)
      }
    }
  }

  /// Removes the work whose deadline is over from the queue.
  ///
  /// - Returns: The time of the next examination; nil if there is no deadline left, or another timer examines them.
  private func examineDeadlines(expected time: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    let (overdue, next) = locked {
      let overdue = queue.elements.compactMap { entry in entry.deadline.flatMap { $0.instant <= now ? $0 : nil } }
      if !overdue.isEmpty { queue.removeAll { $0.deadline.map { $0.instant <= now } ?? false } }
      guard nextExamination == time else { return (overdue, ContinuousClock.Instant?.none) }
      nextExamination = queue.elements.lazy.compactMap { $0.deadline?.instant }.min()
      return (overdue, nextExamination)
    }
    for deadline in overdue { deadline.expire() }
    return next
  }
}
