import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistPostgreSQL

/// The law: each save that meets others is written exactly once, and gets its own result.
@Suite("Saves that wait for others", .timeLimit(.minutes(5))) struct SaveQueueTests {
  private static func insertion(_ count: Int, _ entity: Entity, from number: UInt64) -> RowWrites {
    var writes = RowWrites()
    writes.inserts = (0..<count).map { place in
      .init(key: .temporary(number + UInt64(place)), entity: entity, values: SlotValues([.integer(Int64(place))]))
    }
    return writes
  }

  /// Rows with keys, that fail at random.
  ///
  /// `@unchecked Sendable`: the lock protects everything.
  private final class Rows: @unchecked Sendable {
    private let lock = NSLock()
    private var random: SeededRandom
    private var written: [UInt64: Int64] = [:]

    /// The numbers of all rows.
    var numbers: [UInt64] { lock.withLock { written.keys.sorted() } }

    func keys(_ numbers: [UInt64]) -> [Int64?] { lock.withLock { numbers.map { written[$0] } } }

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// - Parameter mayFail: The chance of a failure, of three.
    func write(_ writes: RowWrites, mayFail chance: Int) throws -> CommitReceipt {
      sched_yield()
      return try lock.withLock {
        if Int.random(in: 0..<3, using: &random) < chance {
          throw PersistenceError(Bool.random(using: &random) ? .constraintConflict : .storeBusy, "No.")
        }
        let keys = writes.inserts.map { insert -> Int64 in
          guard case .temporary(let number) = insert.key else { return -1 }
          let key = Int64(written.count + 1)
          #expect(written.updateValue(key, forKey: number) == nil, "row \(number) was written twice")
          return key
        }
        return CommitReceipt(insertedKeys: keys)
      }
    }
  }

  @Test("Each save gets the keys of its own rows", .law("saves-that-meet", short: 20, long: 2000))
  func law() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: ["A", "B", "C"].map { EntityDescription($0, attributes: [.init("x", .int64)]) }))
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let (rows, queue) = (Rows(seed: seed), SaveQueue(capacity: Int.random(in: 1...3, using: &random)))
      let ended = DispatchGroup()
      for thread in 0..<8 {
        let plan = (0..<20).map { _ in
          (count: Int.random(in: 1...4, using: &random), entity: model.entities[Int.random(in: 0..<3, using: &random)])
        }
        ended.enter()
        Thread.detachNewThread {
          for (round, save) in plan.enumerated() {
            let numbers = (0..<save.count).map { UInt64(thread * 10_000 + round * 10 + $0) }
            let receipt = try? queue.write(
              Self.insertion(save.count, save.entity, from: numbers[0]), within: .seconds(60), instrument: nil,
              alone: { try rows.write($0, mayFail: 0) }, together: { try rows.write($0, mayFail: 1) })
            #expect(receipt?.insertedKeys == rows.keys(numbers))
          }
          ended.leave()
        }
      }
      ended.wait()
      #expect(queue.waitingCount == 0)
    }
  }

  @Test("A save whose wait ends before its turn isn't written")
  func patience() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [EntityDescription("A", attributes: [.init("x", .int64)])]))
    let entity = model.entities[0]
    let (queue, rows) = (SaveQueue(capacity: 1), Rows(seed: 1))
    let (begun, gate, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
    ended.enter()
    Thread.detachNewThread {
      let receipt = try? queue.write(
        Self.insertion(1, entity, from: 1), within: .seconds(60), instrument: nil,
        alone: {
          begun.signal()
          gate.wait()
          return try rows.write($0, mayFail: 0)
        }, together: { try rows.write($0, mayFail: 0) })
      #expect(receipt?.insertedKeys == [1])
      ended.leave()
    }
    begun.wait()
    let error = #expect(throws: SaveQueue.Ended.self) {
      try queue.write(
        Self.insertion(1, entity, from: 2), within: .milliseconds(5), instrument: nil,
        alone: { try rows.write($0, mayFail: 0) }, together: { try rows.write($0, mayFail: 0) })
    }
    #expect(error?.state == .over)
    gate.signal()
    ended.wait()
    #expect(rows.numbers == [1] && queue.waitingCount == 0)
  }
}
