import Testing

@testable import PersistModel

/// Builds without optimization call these functions only here; others call them in place of the standard library's.
@Suite("Arrays with little code")
struct CompactArrayTests {
  @Test("They have the standard library's elements", arguments: [0, 1, 2, 7, 100])
  func elements(count: Int) {
    let numbers = Array(0..<count)
    let sequence = AnySequence(numbers)
    #expect(numbers.compactlyMapped { "\($0)" } == sequence.map { "\($0)" })
    #expect(numbers.compactlyFiltered { $0 % 3 == 1 } == sequence.filter { $0 % 3 == 1 })
    #expect(
      numbers.compactlyMappedWithoutNil { $0 % 2 == 0 ? "\($0)" : nil }
        == sequence.compactMap { $0 % 2 == 0 ? "\($0)" : nil })
    #expect(
      numbers.compactlyFlatMapped { Array(repeating: $0, count: $0 % 3) }
        == sequence.flatMap { Array(repeating: $0, count: $0 % 3) })
    var appended: [Int] = []
    for number in numbers { appended.compactlyAppend(number) }
    #expect(appended == numbers)
    appended.compactlyRemoveAll { $0 % 3 == 1 }
    #expect(appended == sequence.filter { $0 % 3 != 1 })
  }

  @Test("Appending to an array leaves its copies as they are")
  func copies() {
    var numbers = [1, 2]
    let copy = numbers
    numbers.compactlyAppend(3)
    numbers.compactlyAppend(contentsOf: [4, 5])
    #expect(numbers == [1, 2, 3, 4, 5])
    #expect(copy == [1, 2])
  }

  @Test("An error ends the mapping, and what was mapped before is released")
  func errors() {
    final class Part {}
    weak var first: Part?
    #expect(throws: CancellationError.self) {
      try [1, 2, 3].compactlyMapped { number in
        if number == 3 { throw CancellationError() }
        let part = Part()
        if number == 1 { first = part }
        return part
      }
    }
    #expect(first == nil)
  }
}
