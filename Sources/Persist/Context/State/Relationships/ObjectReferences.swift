/// A set of objects that doesn't retain them, using open addressing by their addresses.
///
/// The owner must keep the objects alive. The hash is multiplicative, like that of ``IdentityMap``.
struct ObjectReferences {
  typealias Reference = Unmanaged<ManagedObject>

  /// The entries. Their count is a power of two, with at least a quarter of them free; empty for an empty set.
  private var places: ContiguousArray<Reference?> = []
  private(set) var count = 0

  private func home(_ object: Reference) -> Int {
    let address = UInt64(UInt(bitPattern: object.toOpaque())) &>> 4
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (places.count &- 1)
  }

  /// Returns the index of an object, or the free entry at which its search ends.
  private func place(of object: Reference) -> Int {
    var place = home(object)
    while let other = places[place], other.toOpaque() != object.toOpaque() {
      place = (place &+ 1) & (places.count &- 1)
    }
    return place
  }

  func contains(_ object: Reference) -> Bool { !places.isEmpty && places[place(of: object)] != nil }

  /// - Returns: Whether the object is new in the set.
  mutating func insert(_ object: ManagedObject) -> Bool {
    if (count &+ 1) &* 4 > places.count &* 3 { resize(to: max(8, places.count * 2)) }
    let reference = Reference.passUnretained(object)
    let place = place(of: reference)
    guard places[place] == nil else { return false }
    places[place] = reference
    count &+= 1
    return true
  }

  /// - Returns: Whether the object was in the set.
  mutating func remove(_ object: ManagedObject) -> Bool {
    guard !places.isEmpty else { return false }
    var hole = place(of: .passUnretained(object))
    guard places[hole] != nil else { return false }
    let mask = places.count &- 1
    // Later entries move into the hole if that doesn't put them before their home entry, so that no chain breaks.
    var next = (hole &+ 1) & mask
    while let entry = places[next] {
      if (next &- home(entry)) & mask >= (next &- hole) & mask {
        places[hole] = entry
        hole = next
      }
      next = (next &+ 1) & mask
    }
    places[hole] = nil
    count &-= 1
    return true
  }

  /// Reserves space for more objects.
  mutating func reserve(_ more: Int) {
    var wanted = max(8, places.count)
    while (count &+ more) &* 4 > wanted &* 3 { wanted &*= 2 }
    if wanted > places.count { resize(to: wanted) }
  }

  private mutating func resize(to newCount: Int) {
    let old = places
    places = ContiguousArray(repeating: nil, count: newCount)
    for case let entry? in old { places[place(of: entry)] = entry }
  }

  @inline(__always)
  func forEach(_ body: (Reference) -> Void) {
    for case let entry? in places { body(entry) }
  }
}
