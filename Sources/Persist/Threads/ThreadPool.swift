import DequeModule
import Foundation

/// A pool of Persist's own threads, for work that may block.
///
/// Swift's tasks share a few threads. On Linux and Windows, Dispatch's queues use the same ones: a closure that waits
/// there for a locked file stalls unrelated tasks. The threads of a pool are separate from both. They start when work
/// is waiting, up to a limit, and end after being idle for a while.
package final class ThreadPool: Sendable {
  private let workers: Workers

  /// - Parameters:
  ///   - name: the name of every thread, for debuggers.
  ///   - maximum: the maximum number of threads; further work waits for one of them, in order of arrival.
  ///   - idleTime: how long an idle thread stays alive.
  package init(name: String, maximum: Int, idleTime: Duration = .seconds(5)) {
    workers = Workers(name: name, maximum: maximum, idleTime: idleTime)
  }

  deinit { workers.end() }

  /// Runs work on one of the threads, after all previously added work has started.
  package func add(_ work: @escaping @Sendable () -> Void) { workers.add(work) }

  /// The current number of threads.
  package var threadCount: Int { workers.threadCount }
}

/// The queue of a pool and the threads that drain it. The threads keep the queue alive but not the pool, so that they
/// end when the pool is deallocated.
// @unchecked: all mutable state is accessed only while `condition` is locked.
private final class Workers: @unchecked Sendable {
  private let name: String
  private let maximum: Int
  private let idleTime: Duration
  private let condition = NSCondition()
  private var queue = Deque<@Sendable () -> Void>()
  private var count = 0
  private var idleCount = 0
  private var hasEnded = false

  init(name: String, maximum: Int, idleTime: Duration) {
    precondition(maximum > 0, "A pool without threads would never do its work.")
    self.name = name
    self.maximum = maximum
    self.idleTime = idleTime
  }

  var threadCount: Int {
    condition.lock()
    defer { condition.unlock() }
    return count
  }

  func add(_ work: @escaping @Sendable () -> Void) {
    condition.lock()
    defer { condition.unlock() }
    queue.append(work)
    if idleCount >= queue.count {
      condition.signal()
    } else if count < maximum {
      count += 1
      startThread()
    }
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
    let end = Date(timeIntervalSinceNow: idleTime / .seconds(1))
    while true {
      if let work = queue.popFirst() { return work }
      idleCount += 1
      let isInTime = !hasEnded && condition.wait(until: end)
      idleCount -= 1
      if !isInTime && queue.isEmpty {
        count -= 1
        return nil
      }
    }
  }
}
