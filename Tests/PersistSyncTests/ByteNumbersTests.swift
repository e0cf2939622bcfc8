import Foundation
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: numbers of byte strings")
struct ByteNumbersTests {
  @Test("Byte strings get numbers in order, as in a dictionary", .law("sync-byte-numbers", short: 200, long: 100_000))
  func numbers() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      var (numbers, known) = (ByteNumbers(), [Data: Int]())
      if number(2) == 0 { numbers.reserveCapacity(number(100), bytes: number(1000)) }
      for _ in 0..<number(300) {
        let data = Data((0..<number(4)).map { _ in UInt8(number(5)) })
        let expected = known[data]
        #expect(data.withUnsafeBytes { numbers.number(of: $0) } == expected)
        if number(3) == 0 { continue }
        let (place, isNew) = data.withUnsafeBytes { numbers.add($0) }
        #expect(isNew == (expected == nil) && place == expected ?? known.count)
        known[data] = place
      }
    }
  }
}
