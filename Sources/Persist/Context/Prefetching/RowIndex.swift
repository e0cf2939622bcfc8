/// Rows by key: open addressing over the list in which they were read, which isn't copied.
///
/// The hash is multiplicative, as that of ``IdentityMap``; a `Dictionary` of rows took five times as long to make. It
/// is made when a row is first asked for: a walk through members finds their rows without.
struct RowIndex {
  private var rows: RowBatch
  /// Places in `rows`, -1 where there is none: as many as a power of two, at least half of them free. Empty until a row
  /// is asked for.
  private var places: ContiguousArray<Int32> = []

  init(_ rows: RowBatch) { self.rows = rows }

  mutating func add(_ more: RowBatch) {
    rows += more
    places = []
  }

  /// Of several rows with the key the one that was added last.
  ///
  /// - Complexity: O(*all rows*) the first time, O(1) on average from then on.
  subscript(key: Int64) -> RowBatch.Row? {
    mutating get {
      if rows.isEmpty { return nil }
      if places.isEmpty { index() }
      let place = places[place(of: key)]
      return place < 0 ? nil : rows[Int(place)]
    }
  }

  /// Where a key's row is told: at its home, or at the first place behind that has the key or is free.
  private func place(of key: Int64) -> Int {
    let mask = places.count - 1
    let hash = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
    var place = Int(truncatingIfNeeded: hash >> 32) & mask
    while places[place] >= 0, rows.entries[Int(places[place])].key != key { place = (place + 1) & mask }
    return place
  }

  private mutating func index() {
    var count = 8
    while count < rows.count * 2 { count *= 2 }
    places = ContiguousArray(repeating: -1, count: count)
    for index in rows.entries.indices {
      places[place(of: rows.entries[index].key)] = Int32(truncatingIfNeeded: index)
    }
  }
}
