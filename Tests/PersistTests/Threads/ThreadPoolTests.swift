import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Thread pools")
struct ThreadPoolTests {
  private struct Expired: Error {}

  @Test("A pool of one thread runs its work in the order in which it was added")
  func order() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = LockProtected<[Int]>([])
    for number in 0..<1000 { pool.add { numbers.withLock { $0.append(number) } } }
    try await pool.run {}
    #expect(numbers.withLock { $0 } == Array(0..<1000))
  }

  @Test("The pool never exceeds its maximum number of threads, and idle ones end")
  func bounds() async throws {
    let pool = ThreadPool(name: "test", maximum: 3, idleTime: .milliseconds(20))
    let running = LockProtected((now: 0, most: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await pool.run {
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            Thread.sleep(forTimeInterval: 0.005)
            running.withLock { $0.now -= 1 }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(running.withLock { $0.most } == 3)
    let end = ContinuousClock.now + .seconds(300)
    while pool.threadCount > 0, .now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(pool.threadCount == 0)
  }

  @Test("Works that wait for each other all begin, although more than the processors are busy", arguments: [1, 3, 24])
  func waitingForEachOther(_ excess: Int) async throws {
    let most = StoreThreads.processorCount + excess
    let pool = ThreadPool(name: "test", maximum: most)
    let (begun, condition) = (LockProtected(0), NSCondition())
    let ended = LockProtected(0)
    for _ in 0..<most {
      pool.add {
        condition.lock()
        begun.withLock { $0 += 1 }
        condition.broadcast()
        let limit = Date(timeIntervalSinceNow: 300)
        while begun.withLock({ $0 }) < most, condition.wait(until: limit) {}
        condition.unlock()
        ended.withLock { $0 += 1 }
      }
    }
    let end = ContinuousClock.now + .seconds(300)
    while ended.withLock({ $0 }) < most, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(begun.withLock { $0 } == most && ended.withLock { $0 } == most)
    while !pool.isIdle, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(pool.isIdle)
  }

  @Test("Works in any number, some of which wait, are each done once", .law("thread-pools", short: 6, long: 500))
  func every() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let idleTime = Duration.milliseconds(Int.random(in: 1...20, using: &random))
      let pool = ThreadPool(name: "test", maximum: Int.random(in: 1...12, using: &random), idleTime: idleTime)
      let (count, adders) = (Int.random(in: 1...400, using: &random), Int.random(in: 1...3, using: &random))
      let done = LockProtected<[Int: Int]>([:])
      let group = DispatchGroup()
      for adder in 0..<adders {
        var own = SeededRandom(seed: seed &* 31 &+ UInt64(adder))
        let waits = (0..<count).map { _ in (Int.random(in: 0..<40, using: &own), Int.random(in: 0..<40, using: &own)) }
        for _ in 0..<count { group.enter() }
        Thread.detachNewThread {
          for (number, wait) in waits.enumerated() {
            if wait.0 == 0 { Thread.sleep(forTimeInterval: 0.003) }
            pool.add {
              if wait.1 == 0 { Thread.sleep(forTimeInterval: 0.004) }
              done.withLock { $0[adder * count + number, default: 0] += 1 }
              group.leave()
            }
          }
        }
      }
      #expect(group.wait(timeout: .now() + 300) == .success)
      #expect(done.withLock { $0.count == adders * count && $0.values.allSatisfy { $0 == 1 } })
    }
  }

  @Test("Work added to a pool is done even if the pool is deallocated")
  func goingAway() async throws {
    let (done, most) = (LockProtected(0), 10)
    do {
      let pool = ThreadPool(name: "test", maximum: 1)
      for _ in 0..<most { pool.add { done.withLock { $0 += 1 } } }
    }
    let end = ContinuousClock.now + .seconds(300)
    while done.withLock({ $0 }) < most, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(done.withLock { $0 } == most)
  }

  @Test("A canceled task's queued work is discarded, and its running work is notified")
  func cancellation() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let hasBegun = DispatchSemaphore(value: 0)
    let running = Task {
      try await pool.run {
        hasBegun.signal()
        let end = ContinuousClock.now + .seconds(300)
        while !BlockingWork.isCancelled, .now < end { Thread.sleep(forTimeInterval: 0.001) }
        return BlockingWork.isCancelled
      }
    }
    while hasBegun.wait(timeout: .now()) == .timedOut { try await Task.sleep(for: .milliseconds(1)) }
    let waiting = Task { try await pool.run { Issue.record("The work began.") } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    running.cancel()
    #expect(try await running.value)
  }

  @Test("A wait for a thread ends at its limit, and the work isn't started later")
  func limit() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = DispatchSemaphore(value: 0)
    pool.add { gate.wait() }
    await #expect(throws: Expired.self) {
      try await pool.run(within: WaitLimit(.milliseconds(20), orThrow: Expired())) {
        Issue.record("The work began.")
      }
    }
    gate.signal()
    let waited = try await pool.run { BlockingWork.timeInQueue }
    #expect(waited < .seconds(60))
  }

  @Test("Work may wait for a thread without a limit")
  func unlimited() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = DispatchSemaphore(value: 0)
    pool.add { gate.wait() }
    let waiting = Task {
      try await pool.run(within: WaitLimit(.seconds(Int64.max), orThrow: Expired())) { true }
    }
    while pool.timerCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(20))
    gate.signal()
    #expect(try await waiting.value)
  }

  @Test("Work with a limit needs no timer of its own")
  func timers() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    for _ in 0..<100 { try await pool.run(within: WaitLimit(.seconds(600), orThrow: Expired())) {} }
    // The thread need not have become idle before the next work was added.
    #expect(pool.timerCount <= 1)
  }

  @Test("One timer serves all waiting work")
  func sharedTimer() async throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    pool.add { gate.wait() }
    let (count, expired) = (100, LockProtected(0))
    for _ in 0..<count {
      let deadline = ThreadPool.Deadline(instant: .now + .milliseconds(200)) { expired.withLock { $0 += 1 } }
      pool.add({ Issue.record("The work began.") }, before: deadline)
    }
    let end = ContinuousClock.now + .seconds(300)
    while expired.withLock({ $0 }) < count, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(expired.withLock { $0 } == count && pool.timerCount == 1)
  }
}
