import Foundation
import Persist

/// Keys of attached entries in ascending order, as they are read.
struct SortedKeys {
  private(set) var keys: ByteList
  /// The place that each key had before.
  private(set) var order: [Int]

  /// - Parameter unsorted: The keys in any order.
  init(_ unsorted: ByteList) {
    let all = unsorted.bytes
    var places = Array(0..<unsorted.count)
    let isAscending = all.withUnsafeBytes { bytes in
      func precedes(_ left: Int, _ right: Int) -> Bool {
        UnsafeRawBufferPointer(rebasing: bytes[unsorted[left]]).order(
          beside: UnsafeRawBufferPointer(rebasing: bytes[unsorted[right]])) < 0
      }
      if places.dropFirst().allSatisfy({ !precedes($0, $0 - 1) }) { return true }
      places.sort(by: precedes)
      return false
    }
    (order, keys) = (places, unsorted)
    if isAscending { return }
    keys = ByteList()
    keys.reserveCapacity(unsorted.count, bytes: all.count)
    for place in order { keys.append(all[unsorted[place]]) }
  }

  /// Whether no key is there twice.
  var areDifferent: Bool {
    (0..<keys.count).dropFirst().allSatisfy {
      keys.bytes.order(keys[$0 - 1], beside: keys.bytes, keys[$0]) != 0
    }
  }
}

extension AttachedList {
  mutating func append(_ key: Data, _ value: [UInt8]) {
    key.withUnsafeBytes { key in value.withUnsafeBytes { append(key, $0) } }
  }

  /// Brings the entries after some first ones in the order of their keys.
  mutating func sort(from first: Int = 0) {
    let entries = entries
    let isAscending = bytes.withUnsafeBytes { bytes in
      entries.indices.dropFirst(first + 1).allSatisfy { !entries[$0].precedes(entries[$0 - 1], bytes) }
    }
    if isAscending { return }
    let all = bytes
    all.withUnsafeBytes { bytes in self.entries[first...].sort { $0.precedes($1, bytes) } }
  }
}

extension AttachedList.Entry {
  /// Whether the entry's key comes first.
  fileprivate func precedes(_ other: Self, _ bytes: UnsafeRawBufferPointer) -> Bool {
    UnsafeRawBufferPointer(rebasing: bytes[key]).order(beside: UnsafeRawBufferPointer(rebasing: bytes[other.key])) < 0
  }
}

extension StoreHistory {
  /// The values of entries by their keys, from one state of the store; those that don't exist are missing.
  func attachedValues(_ keys: [Data]) throws -> [Data: Data] {
    let sorted = keys.sorted { $0.precedes($1) }
    var list = ByteList()
    for key in sorted { list.append(key) }
    let found = try attachedValues(of: list)
    var values: [Data: Data] = [:]
    values.reserveCapacity(keys.count)
    for (index, key) in sorted.enumerated() { if let value = found.data(index) { values[key] = value } }
    return values
  }
}
