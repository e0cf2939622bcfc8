/// The rows that a query found, in order.
///
/// A fetch of many rows keeps for each no more than its key and where its values stand; what it hands out as ``Row`` is
/// made when it is asked for.
struct RowBatch: Sendable {
  /// One row: its key, its own entity, and what it held.
  struct Row: Sendable {
    let key: Int64
    /// Index of the row's own entity in ``ManagedObjectModel/entities``.
    let entityIndex: Int
    /// Nil where only keys were asked for.
    let snapshot: RowSnapshot?
  }

  /// Where a row is. Nothing in it is counted, so that lists of rows are made, copied and freed as bytes are.
  struct Entry: Sendable {
    let key: Int64
    /// Place in ``chunks``; ``noChunk`` where the row's values weren't read.
    let chunk: UInt32
    let offset: UInt32
    let entityIndex: UInt32
  }

  static let noChunk = UInt32.max

  private(set) var entries: ContiguousArray<Entry> = []
  private(set) var chunks: ContiguousArray<RowChunk> = []

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  mutating func append(_ row: Row) { entries.append(entry(for: row)) }

  /// Adds a row whose values weren't read.
  mutating func append(key: Int64, entityIndex: UInt32) {
    entries.append(Entry(key: key, chunk: Self.noChunk, offset: 0, entityIndex: entityIndex))
  }

  /// Adds a row that stands in the chunk added last.
  mutating func append(key: Int64, entityIndex: UInt32, offset: UInt32) {
    entries.append(
      Entry(key: key, chunk: UInt32(truncatingIfNeeded: chunks.count &- 1), offset: offset, entityIndex: entityIndex))
  }

  /// Adds the chunk in which the rows added next stand.
  mutating func append(_ chunk: RowChunk) { chunks.append(chunk) }

  private mutating func entry(for row: Row) -> Entry {
    let entityIndex = UInt32(truncatingIfNeeded: row.entityIndex)
    guard let snapshot = row.snapshot else {
      return Entry(key: row.key, chunk: Self.noChunk, offset: 0, entityIndex: entityIndex)
    }
    if chunks.last !== snapshot.chunk { chunks.append(snapshot.chunk) }
    return Entry(
      key: row.key, chunk: UInt32(truncatingIfNeeded: chunks.count - 1), offset: snapshot.offset,
      entityIndex: entityIndex)
  }
}

extension RowBatch: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { entries.count }

  subscript(index: Int) -> Row {
    get {
      let entry = entries[index]
      return Row(key: entry.key, entityIndex: Int(entry.entityIndex), snapshot: snapshot(of: entry))
    }
    set { entries[index] = entry(for: newValue) }
  }

  /// What a row held; nil where only its key was asked for.
  @inline(__always)
  func snapshot(of entry: Entry) -> RowSnapshot? {
    guard entry.chunk != Self.noChunk else { return nil }
    return RowSnapshot(chunk: chunks[Int(entry.chunk)], offset: entry.offset)
  }

  static func += (batch: inout RowBatch, more: some Sequence<Row>) {
    for row in more { batch.append(row) }
  }
}
