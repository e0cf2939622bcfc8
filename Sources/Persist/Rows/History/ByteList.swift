package import Foundation

/// Byte strings in one piece of memory, such as the keys of many entries.
package struct ByteList: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// The end of each byte string among ``bytes``.
  private var ends: [Int] = []

  package init() {}

  package var count: Int { ends.count }

  /// The place of a byte string among ``bytes``.
  package subscript(index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  package mutating func reserveCapacity(_ count: Int, bytes size: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(size)
  }

  package mutating func append(_ data: Data) {
    data.withUnsafeBytes { bytes.append(contentsOf: $0) }
    ends.append(bytes.count)
  }

  package mutating func append(_ part: ArraySlice<UInt8>) {
    bytes.append(contentsOf: part)
    ends.append(bytes.count)
  }

  package mutating func append(_ part: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: part)
    ends.append(bytes.count)
  }
}

/// Entries in one piece of memory.
package struct AttachedList: Sendable {
  /// An entry: its key, followed by its value.
  package struct Entry: Sendable {
    /// The places among the list's bytes.
    package let key: Range<Int>
    package let value: Range<Int>
  }

  package private(set) var bytes: [UInt8] = []
  /// In any order; that of the keys is the fastest to write.
  package var entries: [Entry] = []

  package init() {}

  package init(_ all: [AttachedEntry]) {
    for entry in all { append(entry.key, entry.value) }
  }

  package var isEmpty: Bool { entries.isEmpty }

  package mutating func reserveCapacity(_ count: Int, bytes size: Int) {
    entries.reserveCapacity(count)
    bytes.reserveCapacity(size)
  }

  package mutating func append(_ key: Data, _ value: Data) {
    let start = bytes.count
    add(key)
    let middle = bytes.count
    add(value)
    entries.append(Entry(key: start..<middle, value: middle..<bytes.count))
  }

  // The compiler repeats the closure for each of Data's four representations, and nested closures sixteen times.
  @inline(never)
  private mutating func add(_ data: Data) { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }

  package mutating func append(_ key: ArraySlice<UInt8>, _ value: [UInt8]) {
    key.withUnsafeBytes { key in value.withUnsafeBytes { append(key, $0) } }
  }

  package mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let start = bytes.count
    bytes.append(contentsOf: key)
    let middle = bytes.count
    bytes.append(contentsOf: value)
    entries.append(Entry(key: start..<middle, value: middle..<bytes.count))
  }
}

/// The values of entries, in the order of the keys by which they were read.
package struct AttachedValues: Sendable {
  /// The values, one after another.
  package private(set) var bytes: [UInt8] = []
  /// The place of each value among ``bytes``; nil for an entry that doesn't exist.
  package private(set) var places: [Range<Int>?]

  package init(count: Int) { places = Array(repeating: nil, count: count) }

  package mutating func set(_ index: Int, to value: UnsafeRawBufferPointer) {
    let start = bytes.count
    // Most values are of a similar size.
    if start == 0 { bytes.reserveCapacity(min(places.count * value.count, Self.greatestReservation)) }
    bytes.append(contentsOf: value)
    places[index] = start..<bytes.count
  }

  /// In bytes.
  private static let greatestReservation = 4 << 20

  /// The value of the entry with a key; nil if it doesn't exist.
  package func data(_ index: Int) -> Data? { places[index].map { Data(bytes[$0]) } }
}

extension UnsafeRawBufferPointer {
  /// The order of the bytes, as those of keys are ordered: negative before the others, positive after them.
  package func order(beside other: UnsafeRawBufferPointer) -> Int {
    if let first = baseAddress, let second = other.baseAddress {
      let order = memcmp(first, second, Swift.min(count, other.count))
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }
}
