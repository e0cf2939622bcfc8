/// A set of objects of which none is retained: open addressing by their addresses.
///
/// Whoever owns it sees to it that its objects live. The hash is multiplicative, as that of ``IdentityMap``.
struct ObjectReferences {
  typealias Reference = Unmanaged<ManagedObject>

  /// As many as a power of two, at least a quarter of them free; empty for an empty set.
  private var places: ContiguousArray<Reference?> = []
  private(set) var count = 0

  private func home(_ object: Reference) -> Int {
    let address = UInt64(UInt(bitPattern: object.toOpaque())) &>> 4
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (places.count &- 1)
  }

  /// The place of an object, or the free one at which the search for it ends.
  private func place(of object: Reference) -> Int {
    var place = home(object)
    while let other = places[place], other.toOpaque() != object.toOpaque() {
      place = (place &+ 1) & (places.count &- 1)
    }
    return place
  }

  func contains(_ object: Reference) -> Bool { !places.isEmpty && places[place(of: object)] != nil }

  /// - Returns: whether the object is new in the set.
  mutating func insert(_ object: ManagedObject) -> Bool {
    if (count &+ 1) &* 4 > places.count &* 3 { grow() }
    let reference = Reference.passUnretained(object)
    let place = place(of: reference)
    guard places[place] == nil else { return false }
    places[place] = reference
    count &+= 1
    return true
  }

  /// - Returns: whether the object was in the set.
  mutating func remove(_ object: ManagedObject) -> Bool {
    guard !places.isEmpty else { return false }
    var hole = place(of: .passUnretained(object))
    guard places[hole] != nil else { return false }
    let mask = places.count &- 1
    // Entries behind the hole move up where that brings them no farther than home, so that no chain breaks.
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

  private mutating func grow() {
    let old = places
    places = ContiguousArray(repeating: nil, count: max(8, old.count * 2))
    for case let entry? in old { places[place(of: entry)] = entry }
  }

  @inline(__always)
  func forEach(_ body: (Reference) -> Void) {
    for case let entry? in places { body(entry) }
  }
}
