/// The slots of properties by name, for access by names at run time.
///
/// Compares a name of up to 15 bytes of UTF-8, as nearly all are, as two numbers, which takes less than half the time
/// of a dictionary. A dictionary finds longer names, and names in another normalization form.
package struct SlotNames: Sendable {
  /// A name's bytes, and their number in the last one.
  fileprivate struct Key {
    private(set) var words: (UInt64, UInt64) = (0, 0)

    /// Returns nil for a longer name.
    init?(_ name: String) {
      let isShort = name.utf8.withContiguousStorageIfAvailable { bytes in
        guard bytes.count < 16 else { return false }
        withUnsafeMutableBytes(of: &words) { words in
          words.copyMemory(from: UnsafeRawBufferPointer(bytes))
          words[15] = UInt8(truncatingIfNeeded: bytes.count)
        }
        return true
      }
      guard isShort == true else { return nil }
    }

    var hash: Int {
      let mixed = (words.0 ^ words.1 &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
      return Int(truncatingIfNeeded: mixed >> 32)
    }
  }

  /// Three numbers for each bucket of a hash table: the two of a name, and its slot plus 1, or 0 if the bucket is
  /// empty.
  private let buckets: [UInt64]
  /// The number of buckets minus 1; at least half of them are empty.
  private let mask: Int
  private let slots: [String: Int]

  package init(_ slots: [String: Int]) {
    self.slots = slots
    var mask = 7
    while mask < 2 * slots.count { mask = 2 * mask + 1 }
    var buckets = [UInt64](repeating: 0, count: 3 * (mask + 1))
    for (name, slot) in slots {
      guard let key = Key(name) else { continue }
      var bucket = key.hash & mask
      while buckets[3 * bucket + 2] != 0 { bucket = (bucket + 1) & mask }
      (buckets[3 * bucket], buckets[3 * bucket + 1], buckets[3 * bucket + 2]) = (
        key.words.0, key.words.1, UInt64(slot + 1)
      )
    }
    (self.buckets, self.mask) = (buckets, mask)
  }

  /// The slot of the property with a name; nil if there is none.
  package func slot(named name: String) -> Int? {
    guard let key = Key(name) else { return slots[name] }
    return slot(of: key, key.hash) ?? slots[name]
  }

  /// The slot of the property with a prepared name; nil if there is none.
  @inline(__always)
  package func slot(of key: PropertyKey) -> Int? {
    if let known = key.key, let slot = slot(of: known, key.hash) { return slot }
    return slots[key.name]
  }

  @inline(__always)
  private func slot(of key: Key, _ hash: Int) -> Int? {
    var bucket = hash & mask
    while buckets[3 * bucket + 2] != 0 {
      if (buckets[3 * bucket], buckets[3 * bucket + 1]) == key.words { return Int(buckets[3 * bucket + 2]) - 1 }
      bucket = (bucket + 1) & mask
    }
    return nil
  }
}

/// A property's name, prepared for repeated lookups in the entities of any model.
package struct PropertyKey: Sendable {
  package let name: String
  fileprivate let key: SlotNames.Key?
  fileprivate let hash: Int

  package init(_ name: String) {
    self.name = name
    key = SlotNames.Key(name)
    hash = key?.hash ?? 0
  }
}
