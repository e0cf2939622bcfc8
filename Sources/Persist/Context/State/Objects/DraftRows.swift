import Foundation

/// Memory for the values of new objects, in the form of rows: a save binds them from there, and then they are the
/// objects' snapshots. Nothing is copied, and no object needs memory of its own for its values.
///
/// Rows of objects that are created in succession share chunks, like the rows of a fetch. The bytes of a text that is
/// set again remain unused until the row moves to another chunk.
struct DraftRows {
  /// Nil if no row was begun since the last save.
  private var writer: RowChunkWriter?

  /// Begins a row of null values.
  mutating func begin(slotCount: Int) -> RowSnapshot {
    // Changed in place: taken out and put back, the writer would cost reference counts.
    writer?.beginRow(version: 1, slotCount: slotCount)
    if let row = writer?.endRow() { return row }
    var new = Self.newWriter(slotCount: slotCount)
    new.beginRow(version: 1, slotCount: slotCount)
    writer = new
    return new.endRow()
  }

  /// Sets bytes in a row.
  ///
  /// - Parameter row: Replaced if the row must move, because its chunk has no more room.
  /// - Returns: False if the value is too large for a row, which is then unchanged.
  @inline(never)
  mutating func setBytes(
    _ bytes: UnsafeRawBufferPointer, at slot: Int, of row: inout RowSnapshot?, _ layout: EntityLayout
  ) -> Bool {
    guard bytes.count <= DraftColumn.largestValue, let old = row else { return false }
    if let start = writer?.append(bytes, to: old.chunk) {
      MutableRowView(old.view, slotCount: layout.rowSlotCount)
        .setBytes(at: start &- Int(old.offset), count: bytes.count, slot: slot)
      return true
    }
    var writer = writer.take() ?? Self.newWriter(slotCount: layout.rowSlotCount)
    Self.copy(old, without: slot, layout, to: &writer)
    writer.setBytes(bytes.baseAddress, count: bytes.count, slot: slot)
    row = writer.endRow()
    self.writer = writer
    return true
  }

  /// Releases the memory. Rows remain valid, and move when bytes are added to them.
  mutating func removeAll() { writer = nil }

  private static func newWriter(slotCount: Int) -> RowChunkWriter {
    RowChunkWriter(slotCount: slotCount, expectedRows: 2)
  }

  /// Writes a row again without the bytes that it no longer uses.
  @inline(never)
  private static func copy(
    _ row: RowSnapshot, without slot: Int, _ layout: EntityLayout, to writer: inout RowChunkWriter
  ) {
    writer.beginRow(version: row.version, slotCount: layout.rowSlotCount)
    for stored in layout.storedSlots where stored.slot != slot {
      writer.copy(stored.slot, as: stored.form, from: row, slotCount: layout.rowSlotCount)
    }
  }
}
