/// A set of objects that doesn't retain them, using open addressing by their addresses.
///
/// The owner must keep the objects alive. The hash is multiplicative, like that of ``IdentityMap``.
struct ObjectReferences {
  typealias Reference = Unmanaged<ManagedObject>

  /// The entries. Their count is a power of two, with at least a quarter of them free; empty for an empty set.
  private var buckets: ContiguousArray<Reference?> = []
  private(set) var count = 0

  private func home(_ object: Reference) -> Int {
    let address = UInt64(UInt(bitPattern: object.toOpaque())) &>> 4
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (buckets.count &- 1)
  }

  /// Returns the index of an object, or the free entry at which its search ends.
  private func bucket(of object: Reference) -> Int {
    var bucket = home(object)
    while let other = buckets[bucket], other.toOpaque() != object.toOpaque() {
      bucket = (bucket &+ 1) & (buckets.count &- 1)
    }
    return bucket
  }

  func contains(_ object: Reference) -> Bool { !buckets.isEmpty && buckets[bucket(of: object)] != nil }

  /// - Returns: Whether the object is new in the set.
  mutating func insert(_ object: ManagedObject) -> Bool {
    if (count &+ 1) &* 4 > buckets.count &* 3 { resize(to: max(8, buckets.count * 2)) }
    let reference = Reference.passUnretained(object)
    let bucket = bucket(of: reference)
    guard buckets[bucket] == nil else { return false }
    buckets[bucket] = reference
    count &+= 1
    return true
  }

  /// - Returns: Whether the object was in the set.
  mutating func remove(_ object: ManagedObject) -> Bool {
    guard !buckets.isEmpty else { return false }
    var hole = bucket(of: .passUnretained(object))
    guard buckets[hole] != nil else { return false }
    let mask = buckets.count &- 1
    // Later entries move into the hole if that doesn't put them before their home entry, so that no chain breaks.
    var next = (hole &+ 1) & mask
    while let entry = buckets[next] {
      if (next &- home(entry)) & mask >= (next &- hole) & mask {
        buckets[hole] = entry
        hole = next
      }
      next = (next &+ 1) & mask
    }
    buckets[hole] = nil
    count &-= 1
    return true
  }

  /// Reserves space for more objects.
  mutating func reserve(_ more: Int) {
    var wanted = max(8, buckets.count)
    while (count &+ more) &* 4 > wanted &* 3 { wanted &*= 2 }
    if wanted > buckets.count { resize(to: wanted) }
  }

  private mutating func resize(to newCount: Int) {
    let old = buckets
    buckets = ContiguousArray(repeating: nil, count: newCount)
    for case let entry? in old { buckets[bucket(of: entry)] = entry }
  }

  @inline(__always)
  func forEach(_ body: (Reference) -> Void) {
    for case let entry? in buckets { body(entry) }
  }
}
