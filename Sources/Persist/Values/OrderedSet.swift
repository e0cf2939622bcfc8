/// A set that keeps the order in which its elements were added.
///
/// Finding an element, appending one, swapping two and removing the last one take constant time. Inserting and removing
/// elsewhere is linear.
struct OrderedSet<Element: OrderedSetElement>: ExpressibleByArrayLiteral {
  private(set) var elements: [Element] = []
  /// A hash table with open addressing, which finds the elements of larger sets: their indices plus one, or 0 where a
  /// bucket is unused. Its size is a power of two, at least twice the number of elements.
  private var table: [Int32] = []

  /// The size of the largest set without a table: comparing this many elements is faster than hashing one.
  private static var largestWithoutTable: Int { 8 }

  init() {}

  init(arrayLiteral elements: Element...) { self.init(elements) }

  /// Creates a set of the elements of a sequence, in order of their first occurrence.
  init(_ elements: some Sequence<Element>) {
    reserveCapacity(elements.underestimatedCount)
    for element in elements { append(element) }
  }

  /// Creates a set of the elements of an array, in order of their first occurrence. If none is repeated, the set shares
  /// the array's memory, which saves nine tenths of the time.
  init(_ elements: [Element]) {
    self.elements = elements
    let isRepeated: Bool
    if elements.count > Self.largestWithoutTable {
      isRepeated = makeTable(for: elements.count)
    } else {
      isRepeated = elements.indices.contains { elements[..<$0].contains(elements[$0]) }
    }
    if isRepeated { self = OrderedSet(elements.lazy.map { $0 }) }
  }

  mutating func reserveCapacity(_ count: Int) {
    elements.reserveCapacity(count)
    makeTable(for: count)
  }

  func firstIndex(of element: Element) -> Int? {
    if table.isEmpty { return elements.firstIndex(of: element) }
    let index = Int(table[bucket(of: element)])
    return index == 0 ? nil : index - 1
  }

  func contains(_ element: Element) -> Bool { firstIndex(of: element) != nil }

  /// Adds an element at the end, unless the set contains it.
  mutating func append(_ element: Element) {
    makeTable(for: elements.count + 1)
    guard !table.isEmpty else {
      if !elements.contains(element) { elements.append(element) }
      return
    }
    let bucket = bucket(of: element)
    guard table[bucket] == 0 else { return }
    elements.append(element)
    table[bucket] = Int32(elements.count)
  }

  /// Adds an element at an index, unless the set contains it.
  mutating func insert(_ element: Element, at index: Int) {
    guard index < elements.count else { return append(element) }
    guard !contains(element) else { return }
    makeTable(for: elements.count + 1)
    if !table.isEmpty {
      let bucket = bucket(of: element)
      for other in table.indices where table[other] > index { table[other] += 1 }
      table[bucket] = Int32(index + 1)
    }
    elements.insert(element, at: index)
  }

  @discardableResult
  mutating func remove(_ element: Element) -> Element? { firstIndex(of: element).map { remove(at: $0) } }

  @discardableResult
  mutating func remove(at index: Int) -> Element {
    if !table.isEmpty {
      freeBucket(of: elements[index])
      if index < elements.count - 1 {
        for bucket in table.indices where table[bucket] > index { table[bucket] -= 1 }
      }
    }
    return elements.remove(at: index)
  }

  mutating func removeLast() { remove(at: elements.count - 1) }

  /// Removes an element in constant time: the last one takes its place.
  ///
  /// - Returns: Whether the set contained it.
  mutating func removeUnordered(_ element: Element) -> Bool {
    guard let index = firstIndex(of: element) else { return false }
    swapAt(index, elements.count - 1)
    removeLast()
    return true
  }

  /// Replaces an element by another one, at the same index. If the set contains that too, the element is removed.
  mutating func replace(_ element: Element, with other: Element) {
    guard element != other, let index = firstIndex(of: element) else { return }
    if contains(other) {
      remove(at: index)
      return
    }
    if !table.isEmpty { freeBucket(of: element) }
    elements[index] = other
    if !table.isEmpty { table[bucket(of: other)] = Int32(index + 1) }
  }

  mutating func swapAt(_ first: Int, _ second: Int) {
    if !table.isEmpty {
      table.swapAt(bucket(of: elements[first]), bucket(of: elements[second]))
    }
    elements.swapAt(first, second)
  }
}

extension OrderedSet {
  /// Returns the bucket of an element, or the unused one for it.
  private func bucket(of element: Element) -> Int {
    var bucket = firstBucket(of: element)
    while table[bucket] != 0, elements[Int(table[bucket]) - 1] != element { bucket = self.bucket(after: bucket) }
    return bucket
  }

  private func firstBucket(of element: Element) -> Int {
    // Fibonacci's hash, as in ``IdentityMap``.
    Int(truncatingIfNeeded: (element.placeNumber &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (table.count - 1)
  }

  private func bucket(after bucket: Int) -> Int { (bucket + 1) & (table.count - 1) }

  /// Enlarges the table, if this number of elements needs it.
  ///
  /// - Returns: Whether an element was found twice.
  @discardableResult
  private mutating func makeTable(for count: Int) -> Bool {
    guard count > Self.largestWithoutTable, table.count < 2 * count else { return false }
    var size = 32
    while size < 4 * count { size *= 2 }
    table = Array(repeating: 0, count: size)
    var isRepeated = false
    for index in elements.indices {
      let bucket = bucket(of: elements[index])
      if table[bucket] != 0 { isRepeated = true }
      table[bucket] = Int32(index + 1)
    }
    return isRepeated
  }

  /// Marks the bucket of an element as unused, and moves those found through it.
  private mutating func freeBucket(of element: Element) {
    var free = bucket(of: element)
    table[free] = 0
    var bucket = bucket(after: free)
    while table[bucket] != 0 {
      let first = firstBucket(of: elements[Int(table[bucket]) - 1])
      // Moves the element if the unused bucket lies between its first bucket and its present one.
      if (bucket &- first) & (table.count - 1) >= (bucket &- free) & (table.count - 1) {
        table.swapAt(bucket, free)
        free = bucket
      }
      bucket = self.bucket(after: bucket)
    }
  }
}

extension OrderedSet {
  /// Returns the elements that another set doesn't contain.
  @inline(never)
  func subtracting(_ other: OrderedSet) -> OrderedSet {
    if isEmpty || other.isEmpty { return self }
    return OrderedSet(elements.lazy.filter { !other.contains($0) })
  }

  /// Returns the elements that another set contains, too.
  func intersection(_ other: OrderedSet) -> OrderedSet {
    if isEmpty || other.isEmpty { return [] }
    return OrderedSet(elements.lazy.filter(other.contains))
  }

  /// Returns the elements followed by the others that a sequence contains.
  func union(_ other: some Sequence<Element>) -> OrderedSet {
    var union = self
    for element in other { union.append(element) }
    return union
  }

  /// Whether the elements are the same, in any order.
  func isEqualSet(to other: OrderedSet) -> Bool { count == other.count && allSatisfy(other.contains) }
}

extension OrderedSet: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { elements.count }
  subscript(index: Int) -> Element { elements[index] }
}

extension OrderedSet: Equatable {
  /// Whether the elements are the same, in the same order.
  static func == (left: OrderedSet, right: OrderedSet) -> Bool { left.elements == right.elements }
}

extension OrderedSet: Sendable where Element: Sendable {}

/// An element of an ``OrderedSet``.
protocol OrderedSetElement: Hashable {
  /// A number that equal elements have in common, and few others.
  ///
  /// It replaces the standard library's hash, which takes a third of the time of making a set.
  var placeNumber: UInt64 { get }
}

extension ManagedObjectID: OrderedSetElement {
  var placeNumber: UInt64 {
    switch key {
    case .permanent(let key): UInt64(bitPattern: key)
    case .temporary(let number): number
    }
  }
}
