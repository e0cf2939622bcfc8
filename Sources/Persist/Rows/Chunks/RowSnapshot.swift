import Foundation

/// The values of a row when it was read: immutable, in fixed slots, decoded on demand.
///
/// The row's ``Entity`` defines the slots: slot `i` is the property with ``Entity/Slot/index`` `i`, followed by the
/// entity numbers of to-one relationships whose destination has subentities. Slots are untyped: the caller must know
/// that a slot contains an integer.
@usableFromInline @frozen
package struct RowSnapshot: Sendable {
  @usableFromInline let chunk: RowChunk
  /// Below 4 GB: SQLite's rows are smaller, and all rows after the first are in small chunks.
  @usableFromInline let offset: UInt32

  /// The size in bytes of a row's version, slots and null bits.
  @inline(__always)
  static func fixedSize(slotCount: Int) -> Int { 4 &+ slotCount &* 8 &+ (slotCount &+ 7) &>> 3 }

  /// The optimistic-lock counter, `Z_OPT`, when the row was read.
  package var version: Int64 { view.version }

  @inlinable @inline(__always)
  package func isNull(_ slot: Int, of slotCount: Int) -> Bool { view.isNull(slot, of: slotCount) }

  @inlinable @inline(__always)
  package func integer(_ slot: Int) -> Int64 { view.integer(slot) }

  func double(_ slot: Int) -> Double { view.double(slot) }

  package func string(_ slot: Int) -> String { view.string(slot) }

  func data(_ slot: Int) -> Data { view.data(slot) }

  /// Valid as long as the snapshot is retained.
  func bytes(_ slot: Int) -> UnsafeRawBufferPointer { view.bytes(slot) }

  @inlinable @inline(__always)
  var row: UnsafeRawPointer { UnsafeRawPointer(chunk.base) + Int(truncatingIfNeeded: offset) }

  /// The row without a reference to its chunk.
  @inlinable @inline(__always)
  var view: RowView { RowView(row: row) }
}
