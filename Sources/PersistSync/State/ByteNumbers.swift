import Persist

/// Byte strings with numbers in the order in which they were added, such as the identities of many objects.
///
/// A dictionary of `Data` takes several times the instructions: each hash and each comparison begins and ends an access
/// to its storage.
struct ByteNumbers {
  private var all = ByteList()
  /// The hash of each byte string.
  private var hashes: [Int] = []
  /// The numbers by hash, each in the first free place that follows; -1 for none. The count is a power of two.
  private var places: [Int32] = Array(repeating: -1, count: 16)

  /// Reserves memory.
  ///
  /// - Parameter size: The size of all byte strings.
  mutating func reserveCapacity(_ count: Int, bytes size: Int) {
    all.reserveCapacity(count, bytes: size)
    hashes.reserveCapacity(count)
    while places.count < 2 * count { grow() }
  }

  /// The number of a byte string; nil if it wasn't added.
  func number(of bytes: UnsafeRawBufferPointer) -> Int? {
    find(bytes, Self.hash(bytes)).number
  }

  /// Adds a byte string unless it is there.
  mutating func add(_ bytes: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
    if 2 * (hashes.count + 1) > places.count { grow() }
    let hash = Self.hash(bytes)
    let (place, number) = find(bytes, hash)
    if let number { return (number, false) }
    places[place] = Int32(truncatingIfNeeded: hashes.count)
    hashes.append(hash)
    all.append(bytes)
    return (hashes.count - 1, true)
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }

  /// - Returns: The place where the number is, or would be.
  private func find(_ bytes: UnsafeRawBufferPointer, _ hash: Int) -> (place: Int, number: Int?) {
    let mask = places.count - 1
    var place = hash & mask
    while places[place] >= 0 {
      let number = Int(places[place])
      if hashes[number] == hash, all.hasBytes(bytes, at: number) { return (place, number) }
      place = (place + 1) & mask
    }
    return (place, nil)
  }

  private mutating func grow() {
    places = Array(repeating: -1, count: 2 * places.count)
    let mask = places.count - 1
    for (number, hash) in hashes.enumerated() {
      var place = hash & mask
      while places[place] >= 0 { place = (place + 1) & mask }
      places[place] = Int32(truncatingIfNeeded: number)
    }
  }
}

extension ByteList {
  fileprivate func hasBytes(_ other: UnsafeRawBufferPointer, at index: Int) -> Bool {
    let range = self[index]
    guard range.count == other.count else { return false }
    return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]).order(beside: other) == 0 }
  }
}
