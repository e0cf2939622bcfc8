import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Sorting by a key")
struct SortingTests {
  @Test("Elements are in the order of their keys, and equal ones keep theirs")
  func order() {
    let words = ["pear", "fig", "apple", "plum", "date", "kiwi", "grape"]
    #expect(words.sorted(on: \.count) == ["fig", "pear", "plum", "date", "kiwi", "apple", "grape"])
    #expect(words.sorted(on: \.self) == words.sorted())
    #expect(["b": 1, "a": 2].sorted(on: \.key).map(\.value) == [2, 1])
    #expect([String]().sorted(on: \.self).isEmpty)
  }

  @Test("Both sorts agree with the standard library's", arguments: [0, 1, 2, 3, 7, 8, 9, 100, 1000])
  func agreement(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    for keyCount in [1, 3, count + 1] {
      let keys = (0..<count).map { _ in Int.random(in: 0..<keyCount, using: &random) }
      let pairs = keys.enumerated().map { (key: $1, place: $0) }
      let expected = pairs.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.place)
      #expect(pairs.sorted(on: \.key).map(\.place) == expected)
      #expect(pairs.ordered { $0.key < $1.key }.map(\.place) == expected)
      #expect(pairs.ordered { $0.key > $1.key }.map(\.key) == keys.sorted(by: >))
    }
  }

  @Test("An error of the order ends the sort")
  func failure() {
    struct Incomparable: Error {}
    #expect(throws: Incomparable.self) { try [2, 1].ordered { _, _ in throw Incomparable() } }
  }
}
