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
}
