/// The rows of a query's result, in order.
///
/// A fetch of many rows stores only the key and the location of the values for each; a ``Row`` is created on access.
package struct RowBatch: Sendable {
  /// One row: its key, its own entity, and its values.
  package struct Row: Sendable {
    package let key: Int64
    /// The index of the row's own entity in ``ManagedObjectModel/entities``.
    package let entityIndex: Int
    /// Nil if only keys were requested.
    package let snapshot: RowSnapshot?
  }

  /// The location of a row. It contains no reference-counted fields, so that arrays of entries are created, copied and
  /// freed like plain bytes.
  package struct Entry: Sendable {
    let key: Int64
    /// The index in ``chunks``; ``noChunk`` if the row's values weren't read.
    let chunk: UInt32
    let offset: UInt32
    let entityIndex: UInt32
  }

  static let noChunk = UInt32.max

  private(set) var entries: ContiguousArray<Entry> = []
  private(set) var chunks: ContiguousArray<RowChunk> = []

  /// The number of rows that were read, including omitted ones.
  package var readCount: Int { entries.count + omittedCount }
  private var omittedCount = 0
  /// The key of the last omitted row.
  private var lastOmittedKey: Int64?

  package init(
    entries: ContiguousArray<Entry> = [], chunks: ContiguousArray<RowChunk> = [], omittedCount: Int = 0,
    lastOmittedKey: Int64? = nil
  ) {
    self.entries = entries
    self.chunks = chunks
    self.omittedCount = omittedCount
    self.lastOmittedKey = lastOmittedKey
  }

  package mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  mutating func append(_ row: Row) { entries.append(entry(for: row)) }

  /// Appends a row whose values weren't read.
  package mutating func append(key: Int64, entityIndex: UInt32) {
    entries.append(Entry(key: key, chunk: Self.noChunk, offset: 0, entityIndex: entityIndex))
  }

  /// Appends a row that is in the last added chunk.
  package mutating func append(key: Int64, entityIndex: UInt32, offset: UInt32) {
    entries.append(
      Entry(key: key, chunk: UInt32(truncatingIfNeeded: chunks.count &- 1), offset: offset, entityIndex: entityIndex))
  }

  /// Counts a row that can't become an object, because the model lacks its entity.
  package mutating func omit(key: Int64) {
    omittedCount += 1
    lastOmittedKey = key
  }

  /// The greatest key of rows read in the order of keys, including omitted ones.
  package var greatestReadKey: Int64? { [entries.last?.key, lastOmittedKey].compactMap { $0 }.max() }

  package mutating func sortByKey() {
    var previous = Int64.min
    let isSorted = entries.allSatisfy { entry in
      defer { previous = entry.key }
      return previous <= entry.key
    }
    if !isSorted { entries.sort { $0.key < $1.key } }
  }

  /// Adds the chunk that contains the rows appended next.
  package mutating func append(_ chunk: RowChunk) { chunks.append(chunk) }

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
  package var startIndex: Int { 0 }
  package var endIndex: Int { entries.count }

  package subscript(index: Int) -> Row {
    get {
      let entry = entries[index]
      return Row(key: entry.key, entityIndex: Int(entry.entityIndex), snapshot: snapshot(of: entry))
    }
    set { entries[index] = entry(for: newValue) }
  }

  /// The values of a row; nil if only its key was requested.
  @inline(__always)
  func snapshot(of entry: Entry) -> RowSnapshot? {
    guard entry.chunk != Self.noChunk else { return nil }
    return RowSnapshot(chunk: chunks[Int(entry.chunk)], offset: entry.offset)
  }

  static func += (batch: inout RowBatch, more: some Sequence<Row>) {
    for row in more { batch.append(row) }
  }
}
