/// An index of rows by key, using open addressing over the batch as read, which isn't copied.
///
/// The hash is multiplicative, like that of ``IdentityMap``; building a `Dictionary` of rows took five times as long.
/// The index is built on the first lookup: a walk through members finds their rows without it.
struct RowIndex {
  private let rows: RowBatch
  /// Indexes into `rows`, or -1 for none. The count is a power of two, with at least half of the entries free. Empty
  /// until the first lookup.
  private var buckets: ContiguousArray<Int32> = []

  init(_ rows: RowBatch) { self.rows = rows }

  /// Returns the row with a key; if there are several, the last one.
  ///
  /// - Complexity: O(*all rows*) for the first lookup, then O(1) on average.
  subscript(key: Int64) -> RowBatch.Row? {
    mutating get {
      if rows.isEmpty { return nil }
      if buckets.isEmpty { index() }
      let bucket = buckets[bucket(of: key)]
      return bucket < 0 ? nil : rows[Int(bucket)]
    }
  }

  /// Returns the position of a key: its home, or the next position that has the key or is free.
  private func bucket(of key: Int64) -> Int {
    let mask = buckets.count - 1
    let hash = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
    var bucket = Int(truncatingIfNeeded: hash >> 32) & mask
    while buckets[bucket] >= 0, rows.entries[Int(buckets[bucket])].key != key { bucket = (bucket + 1) & mask }
    return bucket
  }

  private mutating func index() {
    var count = 8
    while count < rows.count * 2 { count *= 2 }
    buckets = ContiguousArray(repeating: -1, count: count)
    for index in rows.entries.indices {
      buckets[bucket(of: rows.entries[index].key)] = Int32(truncatingIfNeeded: index)
    }
  }
}
