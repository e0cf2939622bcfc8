/// The part of a position that tells it from one with the same number in another life of the store.
///
/// A restored store records new transactions under the numbers of those that it lost. Their times differ, and so does
/// the life of the store if a copy made by Persist, or another file, took its place.
package struct HistoryMark: Sendable, Hashable {
  /// The life of the store: see ``StoreLife``.
  package let life: UInt64
  /// The bits of the transaction's time; nil if it isn't known, as before the first transaction.
  package let time: UInt64?

  package init(life: UInt64, time: Double?) { (self.life, self.time) = (life, time?.bitPattern) }

  /// Both numbers in hexadecimal digits, separated by a point.
  package var text: String {
    ([life] + (time.map { [$0] } ?? [])).map { String($0, radix: 16) }.joined(separator: ".")
  }

  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { UInt64(String($0), radix: 16) }
    guard numbers.count == parts.count, let life = numbers.first, numbers.count <= 2 else { return nil }
    (self.life, time) = (life, numbers.dropFirst().first)
  }
}

/// A transaction's number, with its mark if that is known.
package struct HistoryPosition: Sendable, Equatable {
  package let number: Int64
  package let mark: HistoryMark?

  package init(number: Int64, mark: HistoryMark?) {
    self.number = number
    self.mark = mark
  }
}
