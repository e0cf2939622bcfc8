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
    func object(at place: Int) -> Unmanaged<ManagedObject>? { objects[place] }

    @inline(__always)
    func key(at place: Int) -> Int64 {
      Int64(lowerHalves[place]) | (upperHalves.map { Int64($0[place]) &<< 32 } ?? 0)
    }

    /// Whether a search ends here.
    @inline(__always)
    func isFree(at place: Int) -> Bool { objects[place] == nil && lowerHalves[place] == Self.free }

    /// Whether the entry is that of a key.
    @inline(__always)
    func holds(_ key: Int64, at place: Int) -> Bool {
      guard lowerHalves[place] == Self.lowerHalf(key), objects[place] != nil else { return false }
      guard let upperHalves else { return Self.upperHalf(key) == 0 }
      return upperHalves[place] == Self.upperHalf(key)
    }

    /// - Parameter count: The number of entries.
    @inline(__always)
    mutating func set(_ object: Unmanaged<ManagedObject>, key: Int64, at place: Int, of count: Int) {
      objects[place] = object
      lowerHalves[place] = Self.lowerHalf(key)
      if upperHalves != nil || Self.upperHalf(key) != 0 { setUpperHalf(Self.upperHalf(key), at: place, of: count) }
    }

    @inline(never)
    private mutating func setUpperHalf(_ half: UInt32, at place: Int, of count: Int) {
      let halves = upperHalves ?? .allocate(capacity: count)
      if upperHalves == nil { halves.initialize(repeating: 0, count: count) }
      upperHalves = halves
      halves[place] = half
    }

    @inline(__always)
    func free(at place: Int) { (objects[place], lowerHalves[place]) = (nil, Self.free) }

    @inline(__always)
    func markRemoved(at place: Int) { (objects[place], lowerHalves[place]) = (nil, Self.removed) }
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
  private func place(after place: Int) -> Int { place &+ 1 == capacity ? 0 : place &+ 1 }

  /// - Complexity: O(1) on average.
  package subscript(key: Int64) -> ManagedObject? {
    @inline(__always) get {
      guard let place = find(key) else { return nil }
      return entries.object(at: place)?.takeUnretainedValue()
    }
  }

  @inline(__always)
  private func find(_ key: Int64) -> Int? {
    var place = home(key)
    while true {
      if entries.holds(key, at: place) { return place }
      if entries.isFree(at: place) { return nil }
      place = self.place(after: place)
    }
  }

  /// Inserts an object under an unused key.
  mutating func insert(_ object: ManagedObject, key: Int64) {
    reserve(1)
    place(Unmanaged.passUnretained(object), key: key)
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
    guard let place = find(key) else { return }
    if entries.isFree(at: self.place(after: place)) {
      entries.free(at: place)
    } else {
      entries.markRemoved(at: place)
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
      for place in 0..<capacity { entries.free(at: place) }
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
    var place = home(key)
    var length = 1
    while !entries.isFree(at: place), !entries.holds(key, at: place) {
      place = self.place(after: place)
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
    for place in 0..<capacity {
      if let object = entries.object(at: place) { found.append(object.takeUnretainedValue()) }
    }
    return found
  }

  @inline(__always)
  private mutating func place(_ object: Unmanaged<ManagedObject>, key: Int64) {
    var place = home(key)
    while entries.object(at: place) != nil { place = self.place(after: place) }
    if !entries.isFree(at: place) { removedCount &-= 1 }
    entries.set(object, key: key, at: place, of: capacity)
  }

  private mutating func resize(toBlocks newCount: Int) {
    let (old, oldCapacity) = (entries, capacity)
    blockCount = newCount
    entries = Entries(count: capacity)
    removedCount = 0
    for index in 0..<oldCapacity {
      if let object = old.object(at: index) { place(object, key: old.key(at: index)) }
    }
    old.deallocate()
  }
}
