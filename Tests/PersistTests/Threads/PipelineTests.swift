import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Pipelines")
struct PipelineTests {
  private struct Failure: Error {}

  /// Produces the numbers up to a count.
  private final class Numbers: Sendable {
    private let count: Int
    private let produced = Atomic(0)
    private let isProducing = Atomic(false)
    private let threads = LockProtected<Set<ObjectIdentifier>>([])

    init(_ count: Int) { self.count = count }

    var producedCount: Int { produced.load(ordering: .sequentiallyConsistent) }
    /// The number of threads that produced.
    var threadCount: Int { threads.withLock(\.count) }

    func next() -> (part: Int, isLast: Bool) {
      let isAlone = !isProducing.exchange(true, ordering: .sequentiallyConsistent)
      #expect(isAlone, "Two threads produce at once.")
      threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
      let number = produced.add(1, ordering: .sequentiallyConsistent).newValue
      isProducing.store(false, ordering: .sequentiallyConsistent)
      return (number, number == count)
    }
  }

  /// Occupies a thread until the returned semaphore is signaled.
  private func occupyThread(of pool: ThreadPool) -> DispatchSemaphore {
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    pool.add {
      begun.signal()
      gate.wait()
    }
    begun.wait()
    return gate
  }

  @Test("Every part is consumed once and in order, whichever side is slower", arguments: [1, 2, 3, 50], [0, 1, 2])
  func order(_ count: Int, _ slowSide: Int) throws {
    let pool = ThreadPool(name: "test", maximum: 2)
    let numbers = Numbers(count)
    var consumed: [Int] = []
    try Pipeline.run(on: pool) {
      if slowSide == 1 { Thread.sleep(forTimeInterval: 0.001) }
      return numbers.next()
    } consuming: {
      if slowSide == 2 { Thread.sleep(forTimeInterval: 0.001) }
      consumed.append($0)
    }
    #expect(consumed == Array(1...count) && numbers.producedCount == count)
  }

  @Test("Later parts are produced on another thread, and a single one isn't")
  func otherThread() throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let (one, many) = (Numbers(1), Numbers(3))
    try Pipeline.run(on: pool, producing: one.next) { _ in }
    #expect(one.threadCount == 1 && pool.threadCount == 0)
    let ahead = DispatchSemaphore(value: 0)
    try Pipeline.run(on: pool) {
      let next = many.next()
      if next.part == 2 { ahead.signal() }
      return next
    } consuming: {
      if $0 == 1 { #expect(ahead.wait(timeout: .now() + 60) == .success) }
    }
    #expect(many.threadCount == 2)
  }

  @Test("Without a free thread, the caller produces all parts, and the pool can be used afterward")
  func noFreeThread() throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = occupyThread(of: pool)
    let numbers = Numbers(20)
    var sum = 0
    try Pipeline.run(on: pool, producing: numbers.next) { sum += $0 }
    #expect(sum == 210 && numbers.threadCount == 1)
    gate.signal()
    let ended = DispatchSemaphore(value: 0)
    pool.add { ended.signal() }
    ended.wait()
    #expect(numbers.producedCount == 20)
  }

  /// Runs a pipeline of 20 parts on a pool whose only thread is occupied, and expects that it produces the parts after
  /// a given one, at which one of the closures signals the semaphore that frees it.
  private func expectOtherThread(
    after last: Int, producing: @escaping (ThreadPool, _ gate: DispatchSemaphore) -> Void = { _, _ in },
    consuming: (Numbers, _ gate: DispatchSemaphore) -> Void = { _, _ in }
  ) throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = occupyThread(of: pool)
    let (numbers, ahead) = (Numbers(20), DispatchSemaphore(value: 0))
    var consumed: [Int] = []
    try Pipeline.run(on: pool) {
      let next = numbers.next()
      if next.part == last { producing(pool, gate) }
      if next.part == last + 1 { ahead.signal() }
      return next
    } consuming: {
      consumed.append($0)
      guard $0 == last else { return }
      consuming(numbers, gate)
      #expect(ahead.wait(timeout: .now() + 60) == .success)
    }
    #expect(consumed == Array(1...20) && numbers.threadCount == 2)
  }

  @Test("A thread that becomes free later produces the parts that are left", arguments: [1, 2, 5])
  func laterThread(_ last: Int) throws {
    try expectOtherThread(after: last, consuming: { numbers, gate in
      #expect(numbers.threadCount == 1 && numbers.producedCount == last)
      gate.signal()
    })
  }

  @Test("A thread that comes while the caller produces a part serves others, and produces the parts after that one")
  func threadTurnedAway() throws {
    try expectOtherThread(after: 2, producing: { pool, gate in
      // Works of the pool begin in order: after this one has run, the pipeline's has been there.
      let others = DispatchSemaphore(value: 0)
      gate.signal()
      pool.add { others.signal() }
      #expect(others.wait(timeout: .now() + 60) == .success)
    })
  }

  @Test("An error of the producer is thrown after the parts before it", arguments: [1, 2, 7])
  func failingProducer(_ last: Int) throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = Numbers(100)
    var consumed = 0
    #expect(throws: Failure.self) {
      try Pipeline.run(on: pool) {
        if numbers.producedCount == last { throw Failure() }
        return numbers.next()
      } consuming: { _ in
        consumed += 1
      }
    }
    #expect(consumed == last && numbers.producedCount == last)
  }

  @Test("Nothing is produced after the consumer has thrown", arguments: [1, 2, 7])
  func failingConsumer(_ last: Int) throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = Numbers(.max)
    #expect(throws: Failure.self) {
      try Pipeline.run(on: pool, producing: numbers.next) { if $0 == last { throw Failure() } }
    }
    let produced = numbers.producedCount
    Thread.sleep(forTimeInterval: 0.01)
    #expect(produced >= last && numbers.producedCount == produced)
  }

  @Test("Pipelines that run on all threads of a pool don't wait for each other")
  func nested() throws {
    let pool = ThreadPool(name: "test", maximum: 2)
    let sums = LockProtected<[Int]>([])
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<8 {
      pool.add {
        var sum = 0
        try? Pipeline.run(on: pool, producing: Numbers(30).next) { sum += $0 }
        sums.withLock { $0.append(sum) }
        ended.signal()
      }
    }
    for _ in 0..<8 { ended.wait() }
    #expect(sums.withLock { $0 } == Array(repeating: 465, count: 8))
  }

  @Test("The parts of a started pipeline are produced ahead and consumed later, in order")
  func startedPipeline() throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = Numbers(50)
    let pipeline = Pipeline.started(on: pool, producing: numbers.next)
    for _ in 0..<5000 where numbers.producedCount < 50 { Thread.sleep(forTimeInterval: 0.001) }
    #expect(numbers.producedCount == 50)
    var consumed: [Int] = []
    while let (part, isLast) = try pipeline.next() {
      consumed.append(part)
      if isLast { break }
    }
    #expect(consumed == Array(1...50) && numbers.threadCount == 1)
  }

  @Test("No more parts than the limit wait for the consumer, and all arrive", arguments: [1, 2, 3, 10], [0, 1, 2])
  func limit(_ limit: Int, _ slowSide: Int) throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = Numbers(60)
    var consumed: [Int] = []
    func check() { #expect(numbers.producedCount - consumed.count <= limit + 1) }
    try Pipeline.run(on: pool, ahead: limit) {
      if slowSide == 1 { Thread.sleep(forTimeInterval: 0.001) }
      return numbers.next()
    } consuming: {
      if slowSide == 2 { Thread.sleep(forTimeInterval: 0.002) }
      check()
      consumed.append($0)
    }
    #expect(consumed == Array(1...60) && numbers.producedCount == 60)
    // The slow consumer never produces, except what no thread has begun in time.
    if slowSide == 2 { #expect(numbers.threadCount == 2) }
  }

  @Test("A started pipeline without a free thread is produced by whoever needs its parts")
  func startedWithoutThread() throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let gate = occupyThread(of: pool)
    let numbers = Numbers(3)
    let pipeline = Pipeline.started(on: pool, producing: numbers.next)
    #expect(numbers.producedCount == 0)
    for expected in 1...3 {
      let next = try #require(try pipeline.next())
      #expect(next.part == expected && next.isLast == (expected == 3))
    }
    gate.signal()
  }

  @Test("Canceling a started pipeline ends it after the part in progress, or before the first one")
  func canceledPipeline() throws {
    let pool = ThreadPool(name: "test", maximum: 1)
    let numbers = Numbers(.max)
    let pipeline = Pipeline.started(on: pool, producing: numbers.next)
    _ = try pipeline.next()
    pipeline.cancel()
    let ended = DispatchSemaphore(value: 0)
    pool.add { ended.signal() }
    #expect(ended.wait(timeout: .now() + 60) == .success)
    let others = Numbers(.max)
    pool.add { Thread.sleep(forTimeInterval: 0.05) }
    Pipeline.started(on: pool, producing: others.next).cancel()
    pool.add { ended.signal() }
    #expect(ended.wait(timeout: .now() + 60) == .success && others.producedCount == 0)
  }
}
