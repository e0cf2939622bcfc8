/// Writes rows into chunks in one pass, without an allocation per row.
///
/// ```swift
/// var writer = RowChunkWriter(slotCount: 3)
/// writer.beginRow(version: 1, slotCount: 3)
/// writer.setInteger(42, slot: 0)
/// let snapshot = writer.endRow()
/// ```
package struct RowChunkWriter {
  /// The chunk of the current row and the rows before it.
  package private(set) var chunk: RowChunk
  /// The fixed part of the current row.
  private(set) var fixedPart: MutableRowView
  private var rowStart = 0
  private var end = 0
  /// The number of bytes before the current row that belong to it.
  private var lead = 0
  /// The number of chunks before the first huge one; some may be smaller than the standard size. A chunk is thus never
  /// larger than all previous ones together, unless a single row is.
  private static let chunksBeforeHuge = 2 * RowChunk.hugeCapacity / RowChunk.standardCapacity
  /// The number of chunks created so far.
  package private(set) var chunkCount = 1

  /// - Parameters:
  ///   - slotCount: The slot count of the expected rows; other rows are possible too.
  ///   - expectedRows: The number of expected rows, if known, so that a few rows don't use a full-size chunk.
  package init(slotCount: Int, expectedRows: Int? = nil) {
    // Includes room for two or three short texts; a single row that needs more moves to a second chunk.
    let perRow = RowSnapshot.fixedSize(slotCount: slotCount) + 96
    let isFew = expectedRows.map { $0 < RowChunk.standardCapacity / perRow } ?? false
    chunk = RowChunk(capacity: max(perRow, isFew ? (expectedRows ?? 0) * perRow : RowChunk.standardCapacity))
    fixedPart = MutableRowView(row: chunk.base, slotCount: slotCount)
  }

  /// Starts a row in which every slot is null.
  @inline(__always)
  package mutating func beginRow(version: Int64, slotCount: Int) {
    beginRow(size: RowSnapshot.fixedSize(slotCount: slotCount), version: version, slotCount: slotCount)
    fixedPart.setAllNull(slotCount: slotCount)
  }

  /// Reserves the first bytes of a row.
  @inline(__always)
  private mutating func beginRow(size: Int, version: Int64, slotCount: Int) {
    lead = RowVersion.lead(version)
    end &+= lead
    rowStart = end
    reserve(size)
    fixedPart = MutableRowView(row: chunk.base + rowStart, slotCount: slotCount)
    fixedPart.setVersion(version)
    end = rowStart &+ size
  }

  /// Starts a row as a copy of another one.
  ///
  /// - Parameter byteCount: The size of the other row, to the end of its bytes.
  mutating func beginRow(copying other: RowSnapshot, byteCount: Int, version: Int64, slotCount: Int) {
    beginRow(size: byteCount, version: version, slotCount: slotCount)
    (chunk.base + rowStart).copyMemory(from: other.row, byteCount: byteCount)
    fixedPart.setVersion(version)
  }

  /// Adds bytes of any row of the current chunk.
  ///
  /// - Returns: The offset of the bytes from the start of the chunk; nil if the row is in another chunk, or if the
  ///   chunk has no more room.
  mutating func append(_ bytes: UnsafeRawBufferPointer, to other: RowChunk) -> Int? {
    guard other === chunk, end &+ bytes.count <= chunk.capacity else { return nil }
    if let start = bytes.baseAddress { (chunk.base + end).copyMemory(from: start, byteCount: bytes.count) }
    defer { end &+= bytes.count }
    return end
  }

  /// Empties a slot of the current row.
  func setNull(slot: Int) { fixedPart.setNull(slot: slot) }

  @inline(__always)
  package func setInteger(_ value: Int64, slot: Int) { fixedPart.setInteger(value, slot: slot) }

  @inline(__always)
  package func setDouble(_ value: Double, slot: Int) { fixedPart.setDouble(value, slot: slot) }

  /// - Parameters:
  ///   - bytes: May be nil if `count` is 0.
  ///   - count: At most 2 GB, including the preceding bytes of the row.
  @inline(__always)
  package mutating func setBytes(_ bytes: UnsafeRawPointer?, count: Int, slot: Int) {
    reserve(count)
    if let bytes, count > 0 { (chunk.base + end).copyMemory(from: bytes, byteCount: count) }
    fixedPart.setBytes(at: end &- rowStart, count: count, slot: slot)
    end &+= count
  }

  mutating func setString(_ value: String, slot: Int) {
    // Nearly every text is contiguous, and needn't be copied first.
    let isSet: Void? = value.utf8.withContiguousStorageIfAvailable {
      setBytes($0.baseAddress, count: $0.count, slot: slot)
    }
    guard isSet == nil else { return }
    var value = value
    value.withUTF8 { setBytes($0.baseAddress, count: $0.count, slot: slot) }
  }

  /// Ends the row, which remains in ``chunk``.
  ///
  /// - Returns: The offset of the row.
  @inline(__always)
  package func endRowInPlace() -> UInt32 { UInt32(truncatingIfNeeded: rowStart) }

  func endRow() -> RowSnapshot { RowSnapshot(chunk: chunk, offset: endRowInPlace()) }

  /// Reserves `count` more bytes for the current row.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if end &+ count > chunk.capacity { moveOn(for: count) }
  }

  /// Moves the written part of the current row to a new chunk. If few rows were expected, chunks grow gradually: a
  /// single row, as read by a fault, must not retain a full-size chunk.
  @inline(never)
  private mutating func moveOn(for count: Int) {
    let start = rowStart - lead
    // The bytes before a row that begins may be beyond the chunk, and aren't written yet.
    let written = min(end, chunk.capacity) - min(start, chunk.capacity)
    let usual =
      chunkCount < Self.chunksBeforeHuge
      ? min(RowChunk.standardCapacity, chunk.capacity * 2) : RowChunk.hugeCapacity
    let next = RowChunk(capacity: max(usual, (end - start + count) * 3 / 2))
    if written > 0 { next.base.copyMemory(from: chunk.base + start, byteCount: written) }
    fixedPart = fixedPart.moved(to: next.base + lead)
    chunk = next
    chunkCount += 1
    rowStart = lead
    end -= start
  }
}
