import Foundation

/// A pool of Persist's own threads, for work that may block.
///
/// Swift's tasks share a few threads. On Linux and Windows, Dispatch's queues use the same ones: a closure that waits
/// there for a locked file stalls unrelated tasks. The threads of a pool are separate from both. They start when work
/// is waiting, up to a limit, and end after being idle for a while.
///
/// Work that waits for nothing is done fastest by as many threads as there are processors: more would only take turns.
/// While as many are busy, added work stays in the queue until one of them is free. Those that wait for a lock or for a
/// server don't count (``whileWaiting(_:)``). Others may wait for anything, unknown to the pool: if none has taken work
/// for two milliseconds, another thread takes the next, and for a while one more may be busy.
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

  /// Runs code in which the calling thread, if it belongs to a pool, waits for something else than a processor.
  package static func whileWaiting<T>(_ body: () throws -> T) rethrows -> T {
    guard let workers = Workers.current else { return try body() }
    workers.beginWaiting()
    defer { workers.endWaiting() }
    return try body()
  }

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
    let added = ContinuousClock.now
  }

  /// The pool of the current thread. Tasks that its work starts have it too: while they wait, one more thread may be
  /// busy.
  @TaskLocal static var current: Workers?

  private let name: String
  private let maximum: Int
  private let idleTime: Duration
  /// The time for which no work is taken from the queue before one more thread takes it.
  private static let patience = Duration.milliseconds(2)
  /// The time that work stays in the queue at most, as long as there are threads for it.
  private static let longestStay = Duration.milliseconds(50)
  /// The time after which the number of busy threads approaches that of processors again.
  private static let widthTime = Duration.milliseconds(100)
  private let condition = NSCondition()
  private var queue = WorkQueue<Entry>()
  /// The times at which work was last added and taken.
  private var lastAdded = ContinuousClock.now
  private var lastTaken = ContinuousClock.now
  private var count = 0
  private var idleCount = 0
  /// The number of idle threads that were woken and haven't come yet.
  private var comingCount = 0
  /// The number of busy threads that wait, as far as the pool knows.
  private var waitingCount = 0
  /// Whether one of the idle threads waits only until the first work of the queue has waited for too long.
  private var isWatched = false
  /// The number of busy threads from which added work stays in the queue at first.
  private var width: Int { StoreThreads.processorCount + extraWidth }
  private var extraWidth = 0
  private var widthChange = ContinuousClock.now
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
      lastAdded = entry.added
      let wakesThread = summon()
      let stays = busyCount >= width || count == maximum && idleCount == 0
      if stays, let deadline = entry.deadline?.instant, !isExamined(by: deadline) { startTimer(deadline) }
      return wakesThread
    }
    // After unlocking: a thread that wakes up before would only wait for the lock.
    if wakesThread { condition.signal() }
  }

  /// The number of threads that have work and don't wait.
  private var busyCount: Int { count - idleCount - waitingCount }

  func beginWaiting() {
    let wakesThread = locked {
      waitingCount += 1
      return summon()
    }
    if wakesThread { condition.signal() }
  }

  func endWaiting() { locked { waitingCount -= 1 } }

  /// Starts a thread if the queue needs one and none is idle.
  ///
  /// - Returns: Whether an idle thread has to be woken.
  private func summon() -> Bool {
    guard !queue.isEmpty else { return false }
    let isBusy = busyCount + comingCount >= width
    guard isBusy ? !isWatched && comingCount == 0 : comingCount < queue.count else { return false }
    if idleCount > comingCount {
      comingCount += 1
      return true
    }
    if count < maximum {
      count += 1
      startThread()
    }
    return false
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
    let thread = Thread {
      Self.$current.withValue(self) { while let work = self.next() { work() } }
    }
    thread.name = name
    // The same size as the main thread's: predicates and models nest, and other platforms give secondary threads far
    // less.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Returns the next work, waiting for it if necessary; nil if the thread should end.
  private func next() -> (@Sendable () -> Void)? {
    var wakesThread = false
    condition.lock()
    defer {
      condition.unlock()
      if wakesThread { condition.signal() }
    }
    while true {
      let now = ContinuousClock.now
      narrow(now)
      // The busy threads include this one.
      let isOneTooMany = busyCount > width
      let end = queue.first.map(latestStart) ?? lastAdded + Self.patience
      if let first = queue.first, hasEnded || !isOneTooMany || end <= now {
        _ = queue.popFirst()
        lastTaken = now
        if isOneTooMany { (extraWidth, widthChange) = (extraWidth + 1, now) }
        wakesThread = summon()
        return first.work
      }
      if isOneTooMany, !isWatched, !hasEnded, end > now {
        isWatched = true
        wait(until: Date(timeIntervalSinceNow: now.duration(to: end) / .seconds(1)))
        isWatched = false
        continue
      }
      let isInTime = !hasEnded && wait(until: Date(timeIntervalSinceNow: idleTime / .seconds(1)))
      if !isInTime, queue.isEmpty {
        count -= 1
        return nil
      }
    }
  }

  /// The latest time at which work is taken from the queue, whether or not a thread is free.
  private func latestStart(_ entry: Entry) -> ContinuousClock.Instant {
    min(max(entry.added, lastTaken) + Self.patience, entry.added + Self.longestStay)
  }

  /// Lets fewer threads be busy, if the width has grown and not changed for a while.
  private func narrow(_ now: ContinuousClock.Instant) {
    guard extraWidth > 0, widthChange + Self.widthTime <= now else { return }
    (extraWidth, widthChange) = (extraWidth - 1, now)
  }

  /// Waits as an idle thread.
  ///
  /// - Returns: Whether the thread was woken.
  @discardableResult
  private func wait(until end: Date) -> Bool {
    idleCount += 1
    let isWoken = condition.wait(until: end)
    idleCount -= 1
    if comingCount > 0 { comingCount -= 1 }
    return isWoken
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
