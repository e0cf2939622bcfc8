/// The live objects of one hierarchy in a context, by key.
///
/// Open addressing over blocks of eight entries: a multiplicative hash (Fibonacci's) of the key without its low three
/// bits selects the block, and those bits the entry. Consecutive keys, as in most fetches, share two cache lines, and
/// the hash distributes consecutive blocks evenly; with sparse keys, a block acts as a bucket. `Dictionary` makes a
/// whole fetch a quarter slower; weak references double its cost and slow down every later retain of an object.
///
/// The map doesn't keep its objects alive: each removes itself when deallocated, so that no entry outlives its object.
///
/// A removed entry is only marked, so that searches continue past it. Closing the gap instead would hash the keys of
/// all entries up to the next free one, and these are dozens when consecutive keys fill whole blocks. Marked entries
/// are used again, and disappear when the map is resized.
///
/// Objects are often released together. A map therefore shrinks late, and then a lot, which examines each entry about
/// once. It also switches to another hash function: objects may be removed in the order of their entries, as when all
/// are listed and released; the remaining ones are then neighbors, and the same hash function would crowd them into one
/// part of the smaller map.
package struct IdentityMap: ~Copyable {
  /// The memory of the entries.
  ///
  /// References and keys are apart, and so are the keys' upper halves, which exist only once a key needs more than 32
  /// bits: an entry takes 12 bytes instead of 16, which is 5 bytes less for each object of a map.
  private struct Entries {
    /// Not retained, see above; nil if the entry is free or removed.
    private let objects: UnsafeMutablePointer<Unmanaged<ManagedObject>?>
    private let lowerHalves: UnsafeMutablePointer<UInt32>
    /// Nil as long as every key is below 2³².
    private var upperHalves: UnsafeMutablePointer<UInt32>?

    private static let free: UInt32 = 0
    private static let removed: UInt32 = 1

    /// Creates free entries.
    init(count: Int) {
      let (width, halfWidth) = (MemoryLayout<Unmanaged<ManagedObject>?>.stride, MemoryLayout<UInt32>.stride)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count * (width + halfWidth), alignment: width)
      objects = memory.initializeMemory(as: Unmanaged<ManagedObject>?.self, repeating: nil, count: count)
      lowerHalves = (memory + count * width).initializeMemory(as: UInt32.self, repeating: Self.free, count: count)
    }

    func deallocate() {
      objects.deallocate()
      upperHalves?.deallocate()
    }

    @inline(__always)
    private static func lowerHalf(_ key: Int64) -> UInt32 { UInt32(truncatingIfNeeded: key) }

    @inline(__always)
    private static func upperHalf(_ key: Int64) -> UInt32 { UInt32(truncatingIfNeeded: key &>> 32) }

    @inline(__always)
    func object(at bucket: Int) -> Unmanaged<ManagedObject>? { objects[bucket] }

    @inline(__always)
    func key(at bucket: Int) -> Int64 {
      Int64(lowerHalves[bucket]) | (upperHalves.map { Int64($0[bucket]) &<< 32 } ?? 0)
    }

    /// Whether a search ends here.
    @inline(__always)
    func isFree(at bucket: Int) -> Bool { objects[bucket] == nil && lowerHalves[bucket] == Self.free }

    /// Whether the entry is that of a key.
    @inline(__always)
    func holds(_ key: Int64, at bucket: Int) -> Bool {
      guard lowerHalves[bucket] == Self.lowerHalf(key), objects[bucket] != nil else { return false }
      guard let upperHalves else { return Self.upperHalf(key) == 0 }
      return upperHalves[bucket] == Self.upperHalf(key)
    }

    /// - Parameter count: The number of entries.
    @inline(__always)
    mutating func set(_ object: Unmanaged<ManagedObject>, key: Int64, at bucket: Int, of count: Int) {
      objects[bucket] = object
      lowerHalves[bucket] = Self.lowerHalf(key)
      if upperHalves != nil || Self.upperHalf(key) != 0 { setUpperHalf(Self.upperHalf(key), at: bucket, of: count) }
    }

    @inline(never)
    private mutating func setUpperHalf(_ half: UInt32, at bucket: Int, of count: Int) {
      let halves = upperHalves ?? .allocate(capacity: count)
      if upperHalves == nil { halves.initialize(repeating: 0, count: count) }
      upperHalves = halves
      halves[bucket] = half
    }

    @inline(__always)
    func free(at bucket: Int) { (objects[bucket], lowerHalves[bucket]) = (nil, Self.free) }

    @inline(__always)
    func markRemoved(at bucket: Int) { (objects[bucket], lowerHalves[bucket]) = (nil, Self.removed) }
  }

  private static let blockSize = 8
  /// The fractional parts of the golden ratio and of the square roots of 2, 3, 7, 11, 13, 17 and 19, as odd fixed-point
  /// numbers. The fractional parts of the multiples of each are evenly distributed.
  private static let multipliers: [UInt64] = [
    0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1, 0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179,
  ]

  private var entries: Entries
  private var blockCount: Int
  private(set) var count = 0
  /// The number of entries that are marked as removed.
  private var removedCount = 0
  private var multiplier = IdentityMap.multipliers[0]
  private var shrinkCount = 0

  init() {
    blockCount = 1
    entries = Entries(count: Self.blockSize)
  }

  deinit { entries.deallocate() }

  /// The number of entries, occupied or not.
  var capacity: Int { blockCount &* Self.blockSize }

  /// The hash as a fraction of 1, times the number of blocks, which needn't be a power of two.
  @inline(__always)
  private func home(_ key: Int64) -> Int {
    let hash = UInt64(bitPattern: key &>> 3) &* multiplier
    let block = hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: blockCount)).high
    return Int(truncatingIfNeeded: block) &* Self.blockSize &+ Int(truncatingIfNeeded: key & 7)
  }

  @inline(__always)
  private func bucket(after bucket: Int) -> Int { bucket &+ 1 == capacity ? 0 : bucket &+ 1 }

  /// - Complexity: O(1) on average.
  package subscript(key: Int64) -> ManagedObject? {
    @inline(__always) get {
      guard let bucket = find(key) else { return nil }
      return entries.object(at: bucket)?.takeUnretainedValue()
    }
  }

  @inline(__always)
  private func find(_ key: Int64) -> Int? {
    var bucket = home(key)
    while true {
      if entries.holds(key, at: bucket) { return bucket }
      if entries.isFree(at: bucket) { return nil }
      bucket = self.bucket(after: bucket)
    }
  }

  /// Inserts an object under an unused key.
  mutating func insert(_ object: ManagedObject, key: Int64) {
    reserve(1)
    insert(Unmanaged.passUnretained(object), key: key)
    count &+= 1
  }

  /// Reserves space for more objects, so that bulk insertion doesn't rehash repeatedly.
  mutating func reserve(_ more: Int) {
    let wanted = count &+ more
    guard (wanted &+ removedCount) &* 4 > capacity &* 3 else { return }
    // A map that is full mostly of removed entries keeps its size.
    resize(toBlocks: wanted &* 2 > capacity ? max(greaterBlockCount, wanted / 6 + 1) : blockCount)
  }

  /// Large maps grow by half instead of doubling, so that less of their memory remains free.
  private var greaterBlockCount: Int { blockCount < Self.keptBlockCount ? blockCount * 2 : blockCount * 3 / 2 }

  /// Removes the entry of a key, if present.
  mutating func remove(_ key: Int64) {
    guard let bucket = find(key) else { return }
    if entries.isFree(at: self.bucket(after: bucket)) {
      entries.free(at: bucket)
    } else {
      entries.markRemoved(at: bucket)
      removedCount &+= 1
    }
    count &-= 1
    if count == 0 { empty() } else if blockCount > Self.keptBlockCount, count &* 32 < capacity { shrink() }
  }

  /// Frees the space of a large map without objects, and otherwise forgets its removed entries if there are many:
  /// searches for the next keys would go through them.
  @inline(never)
  private mutating func empty() {
    if blockCount > Self.keptBlockCount {
      removeAll()
    } else if removedCount &* 8 > capacity {
      for index in 0..<capacity { entries.free(at: index) }
      removedCount = 0
    }
  }

  /// The size to which a map doesn't shrink: 48 KB, for a walk in batches of two thousand objects.
  private static let keptBlockCount = 512

  @inline(never)
  private mutating func shrink() {
    shrinkCount &+= 1
    multiplier = Self.multipliers[shrinkCount % Self.multipliers.count]
    resize(toBlocks: max(Self.keptBlockCount, count / 2))
  }

  /// The number of entries that a search for a key examines.
  func searchLength(of key: Int64) -> Int {
    var bucket = home(key)
    var length = 1
    while !entries.isFree(at: bucket), !entries.holds(key, at: bucket) {
      bucket = self.bucket(after: bucket)
      length += 1
    }
    return length
  }

  mutating func removeAll() {
    entries.deallocate()
    blockCount = 1
    entries = Entries(count: capacity)
    (count, removedCount) = (0, 0)
  }

  /// All objects, in no particular order.
  var objects: [ManagedObject] {
    var found: [ManagedObject] = []
    found.reserveCapacity(count)
    for index in 0..<capacity {
      if let object = entries.object(at: index) { found.append(object.takeUnretainedValue()) }
    }
    return found
  }

  @inline(__always)
  private mutating func insert(_ object: Unmanaged<ManagedObject>, key: Int64) {
    var bucket = home(key)
    while entries.object(at: bucket) != nil { bucket = self.bucket(after: bucket) }
    if !entries.isFree(at: bucket) { removedCount &-= 1 }
    entries.set(object, key: key, at: bucket, of: capacity)
  }

  private mutating func resize(toBlocks newCount: Int) {
    let (old, oldCapacity) = (entries, capacity)
    blockCount = newCount
    entries = Entries(count: capacity)
    removedCount = 0
    for index in 0..<oldCapacity {
      if let object = old.object(at: index) { insert(object, key: old.key(at: index)) }
    }
    old.deallocate()
  }
}
