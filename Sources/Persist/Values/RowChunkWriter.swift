/// Writes rows into chunks, in one pass and without an allocation per row.
///
/// ```swift
/// var writer = RowChunkWriter(slotCount: 3)
/// writer.beginRow(version: 1)
/// writer.setInteger(42, slot: 0)
/// let snapshot = writer.endRow()
/// ```
struct RowChunkWriter {
  private let slotCount: Int
  private let fixedSize: Int
  private var chunk: RowChunk
  private var rowStart = 0
  private var end = 0

  /// - Parameter expectedRows: how many rows will come, where it is known; a few rows then don't take a whole chunk.
  init(slotCount: Int, expectedRows: Int? = nil) {
    self.slotCount = slotCount
    fixedSize = RowSnapshot.fixedSize(slotCount: slotCount)
    let perRow = fixedSize + 64
    let guess = expectedRows.map { $0 * perRow } ?? RowChunk.standardCapacity
    chunk = RowChunk(capacity: max(fixedSize, min(guess, RowChunk.standardCapacity)))
  }

  /// Starts a row in which every slot is null.
  mutating func beginRow(version: Int64) {
    rowStart = end
    reserve(fixedSize)
    let row = chunk.base + rowStart
    row.storeBytes(of: version, as: Int64.self)
    let bitmap = row + 8 + slotCount * 8
    for word in 0..<((slotCount + 63) / 64) {
      bitmap.storeBytes(of: UInt64.max, toByteOffset: word * 8, as: UInt64.self)
    }
    end = rowStart + fixedSize
  }

  mutating func setInteger(_ value: Int64, slot: Int) {
    (chunk.base + rowStart + 8 + slot * 8).storeBytes(of: value, as: Int64.self)
    markPresent(slot)
  }

  mutating func setDouble(_ value: Double, slot: Int) {
    setInteger(Int64(bitPattern: value.bitPattern), slot: slot)
  }

  /// - Parameter bytes: may be nil where `count` is 0.
  mutating func setBytes(_ bytes: UnsafeRawPointer?, count: Int, slot: Int) {
    reserve(count)
    if let bytes, count > 0 { (chunk.base + end).copyMemory(from: bytes, byteCount: count) }
    let place = UInt64(UInt32(end - rowStart)) | UInt64(UInt32(count)) << 32
    end += count
    setInteger(Int64(bitPattern: place), slot: slot)
  }

  mutating func setString(_ value: String, slot: Int) {
    var value = value
    value.withUTF8 { setBytes($0.baseAddress, count: $0.count, slot: slot) }
  }

  mutating func endRow() -> RowSnapshot {
    end = (end + 7) & ~7
    return RowSnapshot(chunk: chunk, offset: rowStart)
  }

  private mutating func markPresent(_ slot: Int) {
    let word = chunk.base + rowStart + 8 + slotCount * 8 + (slot / 64) * 8
    let bits = word.load(as: UInt64.self)
    word.storeBytes(of: bits & ~(1 << UInt64(slot % 64)), as: UInt64.self)
  }

  /// Makes room for `count` more bytes of the current row, moving what it has into a new chunk where needed. Where few
  /// rows were expected, chunks grow step by step: a single row, as a fault reads it, must not hold a whole one.
  private mutating func reserve(_ count: Int) {
    guard end + count > chunk.capacity else { return }
    let written = end - rowStart
    let usual = min(RowChunk.standardCapacity, chunk.capacity * 2)
    let next = RowChunk(capacity: max(usual, (written + count) * 3 / 2))
    next.base.copyMemory(from: chunk.base + rowStart, byteCount: written)
    chunk = next
    rowStart = 0
    end = written
  }
}
