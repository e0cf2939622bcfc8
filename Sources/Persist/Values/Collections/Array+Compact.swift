// The standard library's `map`, `filter`, `compactMap`, `flatMap` and `removeAll(where:)` are compiled into each
// function that calls them, with the growth of the array: 200 to 500 bytes at some 2,000 places. These do the same with
// about half of the code: room for all elements is made once, or growth is compiled once for each type of elements.
// `map` is also faster; `append` is the standard library's, since a call for each element would take twice as long.

extension Array {
  @inlinable @inline(__always)
  package func compactlyMapped<T, Failure>(_ transform: (Element) throws(Failure) -> T) throws(Failure) -> [T] {
    try [T](unsafeUninitializedCapacity: count) { (elements, initialized) throws(Failure) in
      for index in 0..<count {
        let element = try transform(self[index])
        // There is memory for `count` elements, and so an address as soon as there is one.
        (elements.baseAddress.unsafelyUnwrapped + index).initialize(to: element)
        initialized += 1
      }
    }
  }

  @inlinable @inline(__always)
  package func compactlyFiltered(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
    var result: [Element] = []
    for element in self where try isIncluded(element) { result.compactlyAppend(element) }
    return result
  }

  @inlinable @inline(__always)
  package func compactlyMappedWithoutNil<T>(_ transform: (Element) throws -> T?) rethrows -> [T] {
    var result: [T] = []
    for element in self { if let value = try transform(element) { result.compactlyAppend(value) } }
    return result
  }

  @inlinable @inline(__always)
  package func compactlyFlatMapped<T>(_ transform: (Element) throws -> [T]) rethrows -> [T] {
    var result: [T] = []
    for element in self { result.compactlyAppend(contentsOf: try transform(element)) }
    return result
  }

  @inlinable @inline(__always)
  package mutating func compactlyRemoveAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    self = try compactlyFiltered { try !shouldBeRemoved($0) }
  }

  @inlinable @inline(never)
  package mutating func compactlyAppend(_ element: __owned Element) { append(element) }

  @inlinable @inline(never)
  package mutating func compactlyAppend(contentsOf elements: [Element]) { append(contentsOf: elements) }
}

// Without optimization, the standard library's functions are faster: they are optimized.
#if !DEBUG
  extension Array {
    @inlinable @inline(__always)
    package func map<T, Failure>(_ transform: (Element) throws(Failure) -> T) throws(Failure) -> [T] {
      try compactlyMapped(transform)
    }

    @inlinable @inline(__always)
    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
      try compactlyFiltered(isIncluded)
    }

    @inlinable @inline(__always)
    package func compactMap<T>(_ transform: (Element) throws -> T?) rethrows -> [T] {
      try compactlyMappedWithoutNil(transform)
    }

    @inlinable @inline(__always)
    package func flatMap<T>(_ transform: (Element) throws -> [T]) rethrows -> [T] {
      try compactlyFlatMapped(transform)
    }

    @inlinable @inline(__always)
    package mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
      try compactlyRemoveAll(where: shouldBeRemoved)
    }
  }
#endif
