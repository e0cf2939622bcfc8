/// The objects of one hierarchy that are alive in a context, by key.
///
/// Open addressing with a multiplicative (Fibonacci) hash: a quarter faster over a whole fetch than `Dictionary`, and
/// half the cost of weak references, which also make every later retain of an object slower. The map doesn't keep its
/// objects alive: each takes itself out when it goes, so that no entry ever outlives its object.
struct IdentityMap: ~Copyable {
  private struct Entry {
    var key: Int64
    /// Not counted, see above; nil where the place is free.
    var object: Unmanaged<ManagedObject>?
  }

  private var entries: UnsafeMutablePointer<Entry>
  /// The number of places is 2 to the power of this.
  private var bits: UInt64
  private(set) var count = 0

  init() {
    bits = 3
    entries = Self.places(8)
  }

  deinit { entries.deallocate() }

  private static func places(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let places = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    places.initialize(repeating: Entry(key: 0, object: nil), count: count)
    return places
  }

  private var capacity: Int { 1 << Int(bits) }

  private func home(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> (64 - bits))
  }

  /// - Complexity: O(1) on average.
  subscript(key: Int64) -> ManagedObject? {
    var place = home(key)
    let mask = capacity - 1
    while let object = entries[place].object {
      if entries[place].key == key { return object.takeUnretainedValue() }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Enters an object under a key that no other has.
  mutating func insert(_ object: ManagedObject, key: Int64) {
    if (count + 1) * 4 > capacity * 3 { resize(toBits: bits + 1) }
    place(Unmanaged.passUnretained(object), key: key)
    count += 1
  }

  /// Takes the entry of a key out, where there is one.
  mutating func remove(_ key: Int64) {
    let mask = capacity - 1
    var hole = home(key)
    while true {
      guard entries[hole].object != nil else { return }
      if entries[hole].key == key { break }
      hole = (hole + 1) & mask
    }
    // Entries behind the hole move up where that brings them no farther than home, so that no chain breaks.
    var next = (hole + 1) & mask
    while entries[next].object != nil {
      let home = home(entries[next].key)
      if (next - home) & mask >= (next - hole) & mask {
        entries[hole] = entries[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    entries[hole] = Entry(key: 0, object: nil)
    count -= 1
    if bits > 6, count * 8 < capacity { resize(toBits: bits - 1) }
  }

  mutating func removeAll() {
    entries.deallocate()
    bits = 3
    entries = Self.places(capacity)
    count = 0
  }

  /// Every object, in no particular order.
  var objects: [ManagedObject] {
    var found: [ManagedObject] = []
    found.reserveCapacity(count)
    for place in 0..<capacity {
      if let object = entries[place].object { found.append(object.takeUnretainedValue()) }
    }
    return found
  }

  private mutating func place(_ object: Unmanaged<ManagedObject>, key: Int64) {
    let mask = capacity - 1
    var place = home(key)
    while entries[place].object != nil { place = (place + 1) & mask }
    entries[place] = Entry(key: key, object: object)
  }

  private mutating func resize(toBits newBits: UInt64) {
    let (old, oldCapacity) = (entries, capacity)
    bits = newBits
    entries = Self.places(capacity)
    for index in 0..<oldCapacity {
      if let object = old[index].object { place(object, key: old[index].key) }
    }
    old.deallocate()
  }
}
