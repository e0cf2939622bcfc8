/// A numeric version identifier of any length, such as `3` or `2.1`.
package struct VersionNumber: Sendable, Hashable, Comparable {
  /// The numbers' digits, without leading zeros.
  private let parts: [String]

  /// Nil unless there is exactly one identifier and it is numeric.
  package init?(_ identifiers: [String]) {
    let identifiers = identifiers.filter { !$0.isEmpty }
    guard let text = identifiers.first, identifiers.count == 1 else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(NaturalOrder.isDigit) }) else { return nil }
    self.parts = parts.map { String($0.drop { $0 == "0" }) }
  }

  init(_ number: Int) { parts = [String(number)] }

  package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts) { one, other in
      one.count == other.count ? one < other : one.count < other.count
    }
  }
}
