import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Values by slot")
struct SlotValuesTests {
  /// The slots and values that iteration visits.
  private static func visited(_ values: SlotValues) -> [(Int, StoredValue)] {
    var visited: [(Int, StoredValue)] = []
    values.forEach { visited.append(($0, copy $1)) }
    return visited
  }

  private static func expect(
    _ values: SlotValues, toHave model: [Int: StoredValue], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let sorted = model.sorted { $0.key < $1.key }
    #expect(values.isEmpty == model.isEmpty, sourceLocation: sourceLocation)
    #expect(Array(values.slots) == sorted.map(\.key), sourceLocation: sourceLocation)
    #expect(visited(values).map(\.0) == sorted.map(\.key), sourceLocation: sourceLocation)
    #expect(visited(values).map(\.1) == sorted.map(\.value), sourceLocation: sourceLocation)
    for slot in -1...12 {
      #expect(values[slot] == model[slot], sourceLocation: sourceLocation)
      #expect(values.contains(slot) == (model[slot] != nil), sourceLocation: sourceLocation)
      var found: StoredValue?
      let hasValue = values.withValue(at: slot) { found = copy $0 }
      #expect(hasValue == (model[slot] != nil) && found == model[slot], sourceLocation: sourceLocation)
    }
  }

  @Test("They have what a dictionary has, whatever is set or removed, and copies keep theirs", arguments: 1...20)
  func likeDictionary(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (values, model) = (SlotValues(), [Int: StoredValue]())
    var copies: [(SlotValues, [Int: StoredValue])] = []
    for step in 0..<60 {
      let slot = Int.random(in: 0..<12, using: &generator)
      let value = StoredValue.string("value \(step)")
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        values.remove(at: slot)
        model[slot] = nil
      case 1: (values[slot], model[slot]) = (nil, nil)
      case 2: (values[slot], model[slot]) = (value, value)
      default:
        values.set(value, at: slot)
        model[slot] = value
      }
      Self.expect(values, toHave: model)
      if step.isMultiple(of: 7) { copies.append((values, model)) }
    }
    for (values, model) in copies { Self.expect(values, toHave: model) }
  }

  @Test("An array gives each slot its value, and leaves out those without one; null is a value")
  func array() {
    Self.expect(
      SlotValues([nil, .null, nil, .integer(3), .string("d")]),
      toHave: [1: .null, 3: .integer(3), 4: .string("d")])
    Self.expect(SlotValues([]), toHave: [:])
  }
}
