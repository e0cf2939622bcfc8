/// Rows by key: open addressing over the list in which they were read, which isn't copied.
///
/// The hash is multiplicative, as that of ``IdentityMap``; a `Dictionary` of rows took five times as long to make.
struct RowIndex {
  private(set) var rows: [RowBatch.Row]
  /// Places in `rows`, -1 where there is none. As many as a power of two, at least half of them free.
  private var places: ContiguousArray<Int32> = []
  private var shift: UInt64 = 0

  init(_ rows: [RowBatch.Row] = []) {
    self.rows = rows
    index()
  }

  /// - Complexity: O(*all rows*).
  mutating func add(_ more: [RowBatch.Row]) {
    rows = rows.isEmpty ? more : rows + more
    index()
  }

  /// Of several rows with the key the one that was added last.
  subscript(key: Int64) -> RowBatch.Row? {
    guard !places.isEmpty else { return nil }
    var place = home(key)
    while places[place] >= 0 {
      let row = rows[Int(places[place])]
      if row.key == key { return row }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  private func home(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  private mutating func index() {
    var bits: UInt64 = 3
    while 1 << bits < rows.count * 2 { bits += 1 }
    shift = 64 - bits
    places = ContiguousArray(repeating: -1, count: 1 << Int(bits))
    for (index, row) in rows.enumerated() {
      var place = home(row.key)
      while places[place] >= 0, rows[Int(places[place])].key != row.key { place = (place + 1) & (places.count - 1) }
      places[place] = Int32(truncatingIfNeeded: index)
    }
  }
}
