/// Writes rows into chunks in one pass, without an allocation per row.
///
/// ```swift
/// var writer = RowChunkWriter(slotCount: 3)
/// writer.beginRow(version: 1, slotCount: 3)
/// writer.setInteger(42, slot: 0)
/// let snapshot = writer.endRow()
/// ```
struct RowChunkWriter {
  /// The chunk of the current row and the rows before it.
  private(set) var chunk: RowChunk
  private var row: UnsafeMutableRawPointer
  private var nulls: UnsafeMutableRawPointer
  private var rowStart = 0
  private var end = 0
  /// The number of chunks before the first huge one; some may be smaller than the standard size. A chunk is thus never
  /// larger than all previous ones together, unless a single row is.
  private static let chunksBeforeHuge = 2 * RowChunk.hugeCapacity / RowChunk.standardCapacity
  /// The number of chunks created so far.
  private(set) var chunkCount = 1

  /// - Parameters:
  ///   - slotCount: The slot count of the expected rows; other rows are possible too.
  ///   - expectedRows: The number of expected rows, if known, so that a few rows don't use a full-size chunk.
  init(slotCount: Int, expectedRows: Int? = nil) {
    // Includes room for two or three short texts; a single row that needs more moves to a second chunk.
    let perRow = RowSnapshot.fixedSize(slotCount: slotCount) + 96
    let rows = min(expectedRows ?? .max, RowChunk.standardCapacity / perRow)
    chunk = RowChunk(capacity: max(perRow, rows * perRow))
    (row, nulls) = (chunk.base, chunk.base)
  }

  /// Starts a row in which every slot is null.
  @inline(__always)
  mutating func beginRow(version: Int64, slotCount: Int) {
    rowStart = end
    let size = RowSnapshot.fixedSize(slotCount: slotCount)
    reserve(size)
    row = chunk.base + rowStart
    row.storeBytes(of: version, as: Int64.self)
    nulls = row + (8 &+ slotCount &* 8)
    var word = 0
    while word &* 8 < slotCount {
      nulls.storeBytes(of: UInt64.max, toByteOffset: word, as: UInt64.self)
      word &+= 8
    }
    end = rowStart &+ size
  }

  /// Starts a row as a copy of another one.
  ///
  /// - Parameter byteCount: The size of the other row, to the end of its bytes.
  mutating func beginRow(copying other: RowSnapshot, byteCount: Int, version: Int64, slotCount: Int) {
    rowStart = end
    reserve(byteCount)
    row = chunk.base + rowStart
    row.copyMemory(from: other.row, byteCount: byteCount)
    row.storeBytes(of: version, as: Int64.self)
    nulls = row + (8 &+ slotCount &* 8)
    end = rowStart &+ byteCount
  }

  /// Empties a slot of the current row.
  mutating func setNull(slot: Int) {
    let word = nulls + (slot &>> 6) &* 8
    word.storeBytes(of: word.load(as: UInt64.self) | 1 &<< UInt64(truncatingIfNeeded: slot & 63), as: UInt64.self)
  }

  @inline(__always)
  mutating func setInteger(_ value: Int64, slot: Int) {
    row.storeBytes(of: value, toByteOffset: 8 &+ slot &* 8, as: Int64.self)
    let word = nulls + (slot &>> 6) &* 8
    let bits = word.load(as: UInt64.self)
    word.storeBytes(of: bits & ~(1 &<< UInt64(truncatingIfNeeded: slot & 63)), as: UInt64.self)
  }

  /// Normalizes negative zero to positive zero, as SQLite does when it writes a file, so that a saved row equals the
  /// row read back.
  ///
  /// - SeeAlso: <https://sqlite.org/floatingpoint.html>
  @inline(__always)
  mutating func setDouble(_ value: Double, slot: Int) {
    setInteger(Int64(bitPattern: (value + 0).bitPattern), slot: slot)
  }

  /// - Parameters:
  ///   - bytes: May be nil if `count` is 0.
  ///   - count: At most 2 GB, including the preceding bytes of the row.
  @inline(__always)
  mutating func setBytes(_ bytes: UnsafeRawPointer?, count: Int, slot: Int) {
    reserve(count)
    if let bytes, count > 0 { (chunk.base + end).copyMemory(from: bytes, byteCount: count) }
    let place = UInt64(UInt32(truncatingIfNeeded: end &- rowStart)) | UInt64(UInt32(truncatingIfNeeded: count)) &<< 32
    end &+= count
    setInteger(Int64(bitPattern: place), slot: slot)
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
  mutating func endRowInPlace() -> UInt32 {
    end = (end &+ 7) & ~7
    return UInt32(truncatingIfNeeded: rowStart)
  }

  mutating func endRow() -> RowSnapshot { RowSnapshot(chunk: chunk, offset: endRowInPlace()) }

  /// Reserves `count` more bytes for the current row.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if end &+ count > chunk.capacity { moveOn(for: count) }
  }

  /// Moves the written part of the current row to a new chunk. If few rows were expected, chunks grow gradually: a
  /// single row, as read by a fault, must not retain a full-size chunk.
  @inline(never)
  private mutating func moveOn(for count: Int) {
    let written = end - rowStart
    let usual =
      chunkCount < Self.chunksBeforeHuge
      ? min(RowChunk.standardCapacity, chunk.capacity * 2) : RowChunk.hugeCapacity
    let next = RowChunk(capacity: max(usual, (written + count) * 3 / 2))
    next.base.copyMemory(from: chunk.base + rowStart, byteCount: written)
    nulls = next.base + (nulls - row)
    row = next.base
    chunk = next
    chunkCount += 1
    rowStart = 0
    end = written
  }
}
