import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Slots by name")
struct SlotNamesTests {
  private static func expect(
    _ names: [String], absent: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let slots = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let found = SlotNames(slots)
    for name in names + absent {
      #expect(found.slot(named: name) == slots[name], "\(name)", sourceLocation: sourceLocation)
    }
  }

  @Test("Names of every length are found, and no part or extension of them")
  func lengths() {
    let names = (0...40).map { String(repeating: "n", count: $0) }
    Self.expect(names.filter { $0.count.isMultiple(of: 2) }, absent: names)
    Self.expect(names, absent: names.map { $0 + "\0" } + ["N", "nN"])
  }

  @Test("A name is found in each of its normalization forms, as in a dictionary", arguments: [
    ("caf\u{E9}", "cafe\u{301}"), ("\u{C5}", "A\u{30A}"), ("\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}"),
    ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}\u{E9}"),
  ])
  func normalization(name: String, other: String) {
    Self.expect(["plain", name], absent: [other])
    #expect(SlotNames([name: 3]).slot(named: other) == 3)
  }

  @Test("Random names, few and many, are found as in a dictionary", arguments: 1...20)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let letters = Array("ab_é😀")
    func names(_ count: Int) -> [String] {
      (0..<count).map { _ in
        let length = Int.random(in: 0..<9, using: &generator)
        return String((0..<length).compactMap { _ in letters.randomElement(using: &generator) })
      }
    }
    let known = names(Int.random(in: 0..<300, using: &generator))
    Self.expect(known, absent: names(100))
  }
}
