extension Sequence {
  /// Returns the elements in ascending order of a key. Elements with equal keys keep their order.
  ///
  /// Only pairs of keys and indices are sorted, so that the code of the sort, about 10 KB, is compiled once for each
  /// type of key instead of once for each type of element.
  @inlinable
  package func sorted<Key: Comparable>(on key: (Element) throws -> Key) rethrows -> [Element] {
    let elements = Array(self)
    return ascendingOrder(of: try elements.map(key)).map { elements[$0] }
  }
}

/// Returns the indices of keys in ascending order of the keys.
@inline(never) @inlinable
func ascendingOrder<Key: Comparable>(of keys: [Key]) -> [Int] {
  keys.enumerated().sorted { left, right in
    left.element == right.element ? left.offset < right.offset : left.element < right.element
  }.map(\.offset)
}
