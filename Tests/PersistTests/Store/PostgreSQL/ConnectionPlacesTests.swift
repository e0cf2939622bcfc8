import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistPostgreSQL

/// The order in which threads get a server's connections.
@Suite struct ConnectionPlacesTests {
  @Test("Readers get a connection while writers use all of theirs")
  func reading() {
    let places = ConnectionPlaces(capacity: 3, forWriting: 2)
    for _ in 0..<2 { #expect(places.enter(toWrite: true) { BoundedWait(.zero) } == .goingOn) }
    #expect(places.enter(toWrite: true) { BoundedWait(.zero) } == .over)
    #expect(places.enter(toWrite: false) { BoundedWait(.zero) } == .goingOn)
    #expect(places.enter(toWrite: false) { BoundedWait(.zero) } == .over)
    #expect(places.usedCount == 3)
    places.leave(toWrite: true)
    #expect(places.enter(toWrite: true) { BoundedWait(.zero) } == .goingOn)
    for isToWrite in [true, true, false] { places.leave(toWrite: isToWrite) }
    #expect(places.usedCount == 0)
  }

  @Test("Writers get a connection in the order in which they ask")
  func order() {
    let places = ConnectionPlaces(capacity: 2, forWriting: 1)
    #expect(places.enter(toWrite: true) { BoundedWait(.zero) } == .goingOn)
    let order = LockProtected<[Int]>([])
    let ended = DispatchGroup()
    for number in 0..<20 {
      ended.enter()
      Thread.detachNewThread {
        #expect(places.enter(toWrite: true) { BoundedWait(.seconds(600)) } == .goingOn)
        order.withLock { $0.append(number) }
        places.leave(toWrite: true)
        ended.leave()
      }
      while places.waitingWriterCount <= number { Thread.sleep(forTimeInterval: 0.001) }
    }
    places.leave(toWrite: true)
    ended.wait()
    #expect(order.withLock { $0 } == Array(0..<20))
    #expect(places.usedCount == 0)
  }

  @Test(
    "However threads come, go and give up, no more use connections than may, and all places return",
    .law("places-for-connections", short: 20, long: 2000))
  func law() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let places = ConnectionPlaces(
        capacity: Int.random(in: 2...5, using: &random), forWriting: Int.random(in: 1...2, using: &random))
      let used = LockProtected((readers: 0, writers: 0, most: 0, mostWriters: 0))
      let ended = DispatchGroup()
      for _ in 0..<12 {
        let work = (0..<40).map { _ in
          (isToWrite: Bool.random(using: &random), patience: Int.random(in: 0...3, using: &random))
        }
        ended.enter()
        Thread.detachNewThread {
          for (isToWrite, patience) in work {
            guard places.enter(toWrite: isToWrite, { BoundedWait(.milliseconds(patience)) }) == .goingOn else {
              continue
            }
            used.withLock {
              if isToWrite { $0.writers += 1 } else { $0.readers += 1 }
              ($0.most, $0.mostWriters) = (max($0.most, $0.readers + $0.writers), max($0.mostWriters, $0.writers))
            }
            sched_yield()
            used.withLock { if isToWrite { $0.writers -= 1 } else { $0.readers -= 1 } }
            places.leave(toWrite: isToWrite)
          }
          ended.leave()
        }
      }
      ended.wait()
      let most = used.withLock { $0 }
      #expect(most.most <= places.capacity && most.mostWriters <= places.writerCapacity)
      #expect(places.usedCount == 0 && places.waitingWriterCount == 0)
    }
  }
}
