import DequeModule
import Foundation

/// Threads of Persist's own, for work that may block.
///
/// Swift's tasks share a few threads. On Linux and Windows, Dispatch's queues draw on the same ones: a closure that
/// waits there for a locked file stops tasks that have nothing to do with it. The threads of a pool are separate from
/// both. They are started when work is waiting, up to a limit, and end when they have been idle for a while.
package final class ThreadPool: Sendable {
  private let workers: Workers

  /// - Parameters:
  ///   - name: the name of every thread, for debuggers.
  ///   - maximum: the number of threads at most; further work waits for one of them, in the order of arrival.
  ///   - idleTime: how long a thread without work lives on.
  package init(name: String, maximum: Int, idleTime: Duration = .seconds(5)) {
    workers = Workers(name: name, maximum: maximum, idleTime: idleTime)
  }

  deinit { workers.end() }

  /// Runs work on one of the threads, after all work that was added before it has begun.
  package func add(_ work: @escaping @Sendable () -> Void) { workers.add(work) }

  /// How many threads there are now.
  package var threadCount: Int { workers.threadCount }
}

/// The queue of a pool and the threads that empty it. Threads keep it alive, but not their pool, so that the pool's end
/// reaches them.
// @unchecked: everything that changes is touched only while `condition` is locked.
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

  /// Threads end when the work that was added is done.
  func end() {
    condition.lock()
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }

  private func startThread() {
    let thread = Thread { while let work = self.next() { work() } }
    thread.name = name
    // As the main thread has: predicates and models nest, and other platforms give a second thread far less.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Work to do; nil where the thread is to end.
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
