extension Sequence {
  /// Returns the elements in ascending order of a key. Elements with equal keys keep their order.
  ///
  /// Only indices are sorted, so that the code of the sort is compiled once instead of once for each type of element.
  @inlinable
  package func sorted<Key: Comparable>(on key: (Element) throws -> Key) rethrows -> [Element] {
    let elements = Array(self)
    let keys = try elements.map(key)
    return ascendingIndices(keys.count) { keys[$0] < keys[$1] }.map { elements[$0] }
  }

  /// Returns the elements in ascending order of a text, as by other keys.
  @inlinable
  package func sorted(on key: (Element) throws -> String) rethrows -> [Element] {
    let elements = Array(self)
    return ascendingIndices(of: try elements.map(key)).map { elements[$0] }
  }

  /// Returns the elements in an order. Elements that the order doesn't distinguish keep theirs.
  ///
  /// As in ``sorted(on:)``, only indices are sorted. For elements that are sorted often and in great number, the
  /// standard library's `sorted(by:)` is faster: its code, about 10 KB, is compiled for their type.
  @inlinable
  package func ordered(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
    let elements = Array(self)
    return try ascendingIndices(elements.count) { try precedes(elements[$0], elements[$1]) }.map { elements[$0] }
  }
}

extension Sequence<String> {
  /// Returns the strings in ascending order, by code that is compiled once for all kinds of sequences.
  @inlinable
  package func sorted() -> [String] { ascending(Array(self)) }
}

extension Sequence<Int> {
  /// Returns the numbers in ascending order, as for strings.
  @inlinable
  package func sorted() -> [Int] { ascending(Array(self)) }
}

extension Sequence<Int64> {
  /// Returns the numbers in ascending order, as for strings.
  @inlinable
  package func sorted() -> [Int64] { ascending(Array(self)) }
}

@inline(never) @usableFromInline
func ascending(_ strings: [String]) -> [String] {
  var strings = strings
  strings.sort()
  return strings
}

@inline(never) @usableFromInline
func ascending(_ numbers: [Int]) -> [Int] {
  var numbers = numbers
  numbers.sort()
  return numbers
}

@inline(never) @usableFromInline
func ascending(_ numbers: [Int64]) -> [Int64] {
  var numbers = numbers
  numbers.sort()
  return numbers
}

@inline(never) @usableFromInline
func ascendingIndices(of keys: [String]) -> [Int] { ascendingIndices(keys.count) { keys[$0] < keys[$1] } }

/// Returns the numbers below a count in an order, by merging runs of growing width.
///
/// - Precondition: The order is a strict weak one: elements that it doesn't relate are equal. Elements that follow each
///   other are compared first, and nothing else if they are in order.
/// - Complexity: O(*n* log *n*) comparisons.
// Dynamic: not compiled again for the closures of its callers.
@usableFromInline
dynamic func ascendingIndices(_ count: Int, _ precedes: (Int, Int) throws -> Bool) rethrows -> [Int] {
  var indices = Array(0..<count)
  // Most lists are in order already.
  var next = 1
  while next < count, try !precedes(next, next - 1) { next += 1 }
  if next >= count { return indices }
  var merged = indices
  var width = 1
  while width < count {
    for start in stride(from: 0, to: count, by: 2 * width) {
      let middle = min(start + width, count)
      let end = min(middle + width, count)
      var (left, right) = (start, middle)
      for place in start..<end {
        if try right < end && (left == middle || precedes(indices[right], indices[left])) {
          merged[place] = indices[right]
          right += 1
        } else {
          merged[place] = indices[left]
          left += 1
        }
      }
    }
    swap(&indices, &merged)
    width *= 2
  }
  return indices
}
