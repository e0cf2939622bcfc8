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
  private struct Entry {
    var key: Int64
    /// Not retained, see above; nil if the entry is free or removed.
    var object: Unmanaged<ManagedObject>?

    static var free: Entry { Entry(key: 0, object: nil) }
    static var removed: Entry { Entry(key: 1, object: nil) }

    /// Whether a search ends here.
    @inline(__always)
    var isFree: Bool { object == nil && key == 0 }
  }

  private static let blockSize = 8
  /// The fractional parts of the golden ratio and of the square roots of 2, 3, 7, 11, 13, 17 and 19, as odd fixed-point
  /// numbers. The fractional parts of the multiples of each are evenly distributed.
  private static let multipliers: [UInt64] = [
    0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1, 0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179,
  ]

  private var entries: UnsafeMutablePointer<Entry>
  private var blockCount: Int
  private(set) var count = 0
  /// The number of entries that are marked as removed.
  private var removedCount = 0
  private var multiplier = IdentityMap.multipliers[0]
  private var shrinkCount = 0

  init() {
    blockCount = 1
    entries = Self.places(Self.blockSize)
  }

  deinit { entries.deallocate() }

  private static func places(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let places = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    places.initialize(repeating: .free, count: count)
    return places
  }

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
    find(key).flatMap { entries[$0].object?.takeUnretainedValue() }
  }

  @inline(__always)
  private func find(_ key: Int64) -> Int? {
    var place = home(key)
    while true {
      let entry = entries[place]
      if entry.object != nil, entry.key == key { return place }
      if entry.isFree { return nil }
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
    resize(toBlocks: wanted &* 2 > capacity ? max(blockCount * 2, wanted / 6 + 1) : blockCount)
  }

  /// Removes the entry of a key, if present.
  mutating func remove(_ key: Int64) {
    guard let place = find(key) else { return }
    if entries[self.place(after: place)].isFree {
      entries[place] = .free
    } else {
      entries[place] = .removed
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
      entries.update(repeating: .free, count: capacity)
      removedCount = 0
    }
  }

  /// The size to which a map doesn't shrink: 64 KB, for a walk in batches of two thousand objects.
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
    while !entries[place].isFree, entries[place].object == nil || entries[place].key != key {
      place = self.place(after: place)
      length += 1
    }
    return length
  }

  mutating func removeAll() {
    entries.deallocate()
    blockCount = 1
    entries = Self.places(capacity)
    (count, removedCount) = (0, 0)
  }

  /// All objects, in no particular order.
  var objects: [ManagedObject] {
    var found: [ManagedObject] = []
    found.reserveCapacity(count)
    for place in 0..<capacity {
      if let object = entries[place].object { found.append(object.takeUnretainedValue()) }
    }
    return found
  }

  @inline(__always)
  private mutating func place(_ object: Unmanaged<ManagedObject>, key: Int64) {
    var place = home(key)
    while entries[place].object != nil { place = self.place(after: place) }
    if !entries[place].isFree { removedCount &-= 1 }
    entries[place] = Entry(key: key, object: object)
  }

  private mutating func resize(toBlocks newCount: Int) {
    let (old, oldCapacity) = (entries, capacity)
    blockCount = newCount
    entries = Self.places(capacity)
    removedCount = 0
    for index in 0..<oldCapacity {
      if let object = old[index].object { place(object, key: old[index].key) }
    }
    old.deallocate()
  }
}
