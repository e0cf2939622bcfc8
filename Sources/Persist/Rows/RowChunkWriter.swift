/// Writes rows into chunks, in one pass and without an allocation per row.
///
/// ```swift
/// var writer = RowChunkWriter(slotCount: 3)
/// writer.beginRow(version: 1, slotCount: 3)
/// writer.setInteger(42, slot: 0)
/// let snapshot = writer.endRow()
/// ```
struct RowChunkWriter {
  /// Where the current row stands, and the rows before it.
  private(set) var chunk: RowChunk
  private var row: UnsafeMutableRawPointer
  private var nulls: UnsafeMutableRawPointer
  private var rowStart = 0
  private var end = 0
  /// How many chunks there were so far.
  private(set) var chunkCount = 1

  /// - Parameters:
  ///   - slotCount: that of the rows to come; others may come too.
  ///   - expectedRows: how many rows will come, where it is known; a few rows then don't take a whole chunk.
  init(slotCount: Int, expectedRows: Int? = nil) {
    let perRow = RowSnapshot.fixedSize(slotCount: slotCount) + 64
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

  @inline(__always)
  mutating func setInteger(_ value: Int64, slot: Int) {
    row.storeBytes(of: value, toByteOffset: 8 &+ slot &* 8, as: Int64.self)
    let word = nulls + (slot &>> 6) &* 8
    let bits = word.load(as: UInt64.self)
    word.storeBytes(of: bits & ~(1 &<< UInt64(truncatingIfNeeded: slot & 63)), as: UInt64.self)
  }

  /// A negative zero becomes a positive one, as it does in SQLite's files, so that a saved row agrees with what is read
  /// again.
  ///
  /// - SeeAlso: <https://sqlite.org/floatingpoint.html>
  @inline(__always)
  mutating func setDouble(_ value: Double, slot: Int) {
    setInteger(Int64(bitPattern: (value + 0).bitPattern), slot: slot)
  }

  /// - Parameters:
  ///   - bytes: may be nil where `count` is 0.
  ///   - count: at most 2 GB, with those before it in the row.
  @inline(__always)
  mutating func setBytes(_ bytes: UnsafeRawPointer?, count: Int, slot: Int) {
    reserve(count)
    if let bytes, count > 0 { (chunk.base + end).copyMemory(from: bytes, byteCount: count) }
    let place = UInt64(UInt32(truncatingIfNeeded: end &- rowStart)) | UInt64(UInt32(truncatingIfNeeded: count)) &<< 32
    end &+= count
    setInteger(Int64(bitPattern: place), slot: slot)
  }

  mutating func setString(_ value: String, slot: Int) {
    var value = value
    value.withUTF8 { setBytes($0.baseAddress, count: $0.count, slot: slot) }
  }

  /// The end of the row, which stands in ``chunk``.
  ///
  /// - Returns: where the row begins.
  @inline(__always)
  mutating func endRowInPlace() -> UInt32 {
    end = (end &+ 7) & ~7
    return UInt32(truncatingIfNeeded: rowStart)
  }

  mutating func endRow() -> RowSnapshot { RowSnapshot(chunk: chunk, offset: endRowInPlace()) }

  /// Makes room for `count` more bytes of the current row.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if end &+ count > chunk.capacity { moveOn(for: count) }
  }

  /// Moves what there is of the current row into a new chunk. Where few rows were expected, chunks grow step by step: a
  /// single row, as a fault reads it, must not hold a whole one.
  @inline(never)
  private mutating func moveOn(for count: Int) {
    let written = end - rowStart
    let usual = min(RowChunk.standardCapacity, chunk.capacity * 2)
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
