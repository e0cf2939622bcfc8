/// The live objects of one hierarchy in a context, by key.
///
/// Open addressing over blocks of eight entries: a multiplicative (Fibonacci) hash of the key without its low three
/// bits selects the block, and those bits the entry. Consecutive keys, as in most fetches, share two cache lines, and
/// the hash distributes consecutive blocks evenly; with sparse keys, a block acts as a bucket. `Dictionary` makes a
/// whole fetch a quarter slower; weak references double its cost and slow down every later retain of an object.
///
/// The map doesn't keep its objects alive: each removes itself when deallocated, so that no entry outlives its object.
struct IdentityMap: ~Copyable {
  private struct Entry {
    var key: Int64
    /// Not retained, see above; nil if the entry is free.
    var object: Unmanaged<ManagedObject>?
  }

  private static let blockSize = 8

  private var entries: UnsafeMutablePointer<Entry>
  private var blockCount: Int
  private(set) var count = 0

  init() {
    blockCount = 1
    entries = Self.places(Self.blockSize)
  }

  deinit { entries.deallocate() }

  private static func places(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let places = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    places.initialize(repeating: Entry(key: 0, object: nil), count: count)
    return places
  }

  private var capacity: Int { blockCount &* Self.blockSize }

  /// The hash as a fraction of 1, times the number of blocks, which needn't be a power of two.
  @inline(__always)
  private func home(_ key: Int64) -> Int {
    let hash = UInt64(bitPattern: key &>> 3) &* 0x9E37_79B9_7F4A_7C15
    let block = hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: blockCount)).high
    return Int(truncatingIfNeeded: block) &* Self.blockSize &+ Int(truncatingIfNeeded: key & 7)
  }

  @inline(__always)
  private func place(after place: Int) -> Int { place &+ 1 == capacity ? 0 : place &+ 1 }

  /// The distance between two entries, with wraparound.
  @inline(__always)
  private func distance(from start: Int, to end: Int) -> Int { end >= start ? end &- start : end &- start &+ capacity }

  /// - Complexity: O(1) on average.
  subscript(key: Int64) -> ManagedObject? {
    var place = home(key)
    while let object = entries[place].object {
      if entries[place].key == key { return object.takeUnretainedValue() }
      place = self.place(after: place)
    }
    return nil
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
    guard wanted &* 4 > capacity &* 3 else { return }
    resize(toBlocks: max(blockCount * 2, wanted / 6 + 1))
  }

  /// Removes the entry of a key, if present.
  mutating func remove(_ key: Int64) {
    var hole = home(key)
    while true {
      guard entries[hole].object != nil else { return }
      if entries[hole].key == key { break }
      hole = place(after: hole)
    }
    // Later entries move into the hole if that doesn't put them before their home entry, so that no chain breaks.
    var next = place(after: hole)
    while entries[next].object != nil {
      let home = home(entries[next].key)
      if distance(from: home, to: next) >= distance(from: hole, to: next) {
        entries[hole] = entries[next]
        hole = next
      }
      next = place(after: next)
    }
    entries[hole] = Entry(key: 0, object: nil)
    count &-= 1
    if blockCount > 8, count &* 8 < capacity { resize(toBlocks: blockCount / 2) }
  }

  mutating func removeAll() {
    entries.deallocate()
    blockCount = 1
    entries = Self.places(capacity)
    count = 0
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
  private func place(_ object: Unmanaged<ManagedObject>, key: Int64) {
    var place = home(key)
    while entries[place].object != nil { place = self.place(after: place) }
    entries[place] = Entry(key: key, object: object)
  }

  private mutating func resize(toBlocks newCount: Int) {
    let (old, oldCapacity) = (entries, capacity)
    blockCount = newCount
    entries = Self.places(capacity)
    for index in 0..<oldCapacity {
      if let object = old[index].object { place(object, key: old[index].key) }
    }
    old.deallocate()
  }
}
