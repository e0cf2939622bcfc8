import Persist

/// Keys of attached entries in ascending order, as they are read.
struct SortedKeys {
  private(set) var keys: ByteList
  /// The place that each key had before.
  private(set) var order: [Int]

  /// - Parameter unsorted: The keys in any order.
  init(_ unsorted: ByteList) {
    let bytes = unsorted.bytes
    func precedes(_ left: Int, _ right: Int) -> Bool {
      bytes.order(unsorted[left], beside: bytes, unsorted[right]) < 0
    }
    order = Array(0..<unsorted.count)
    if order.dropFirst().allSatisfy({ !precedes($0, $0 - 1) }) {
      keys = unsorted
      return
    }
    order.sort(by: precedes)
    keys = ByteList()
    keys.reserveCapacity(unsorted.count, bytes: bytes.count)
    for place in order { keys.append(bytes[unsorted[place]]) }
  }

  /// Whether no key is there twice.
  var areDifferent: Bool {
    (0..<keys.count).dropFirst().allSatisfy {
      keys.bytes.order(keys[$0 - 1], beside: keys.bytes, keys[$0]) != 0
    }
  }
}
