import Persist

/// Generates random numbers that depend only on a seed, the same on every platform and in every run (SplitMix64).
///
/// - SeeAlso: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number below `bound`, which is at least 1. The standard library's algorithm isn't guaranteed to stay the
  /// same.
  package mutating func below<Number: FixedWidthInteger>(_ bound: Number) -> Number {
    Number(next().multipliedFullWidth(by: UInt64(max(1, bound))).high)
  }

  package mutating func pick<Elements: RandomAccessCollection>(_ elements: Elements) -> Elements.Element
  where Elements.Index == Int {
    elements[elements.startIndex + below(elements.count)]
  }

  /// Returns true with a probability of one in `odds`.
  package mutating func oneIn(_ odds: Int) -> Bool { below(odds) == 0 }

  package mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for index in elements.indices.dropFirst() { elements.swapAt(index, below(index + 1)) }
    return elements
  }
}
