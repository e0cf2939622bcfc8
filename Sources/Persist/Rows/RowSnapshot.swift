import Foundation

/// The values of a row when it was read: immutable, in fixed slots, decoded on demand.
///
/// The row's ``Entity`` defines the slots: slot `i` is the property with ``Entity/Slot/index`` `i`, followed by the
/// entity numbers of to-one relationships whose destination has subentities. Slots are untyped: the caller must know
/// that a slot contains an integer.
@usableFromInline @frozen
struct RowSnapshot: Sendable {
  @usableFromInline let chunk: RowChunk
  /// Below 4 GB: SQLite's rows are smaller, and all rows after the first are in small chunks.
  @usableFromInline let offset: UInt32

  /// The size in bytes of a row's version, slots and null bits.
  @inline(__always)
  static func fixedSize(slotCount: Int) -> Int { 8 &+ slotCount &* 8 &+ ((slotCount &+ 63) &>> 6) &* 8 }

  /// The optimistic-lock counter, `Z_OPT`, when the row was read.
  var version: Int64 { row.load(as: Int64.self) }

  @inlinable @inline(__always)
  func isNull(_ slot: Int, of slotCount: Int) -> Bool {
    let word = row.load(fromByteOffset: 8 &+ (slotCount &+ slot &>> 6) &* 8, as: UInt64.self)
    return word & (1 &<< UInt64(truncatingIfNeeded: slot & 63)) != 0
  }

  @inlinable @inline(__always)
  func integer(_ slot: Int) -> Int64 { row.load(fromByteOffset: 8 &+ slot &* 8, as: Int64.self) }

  func double(_ slot: Int) -> Double { Double(bitPattern: UInt64(bitPattern: integer(slot))) }

  func string(_ slot: Int) -> String { String(decoding: bytes(slot), as: UTF8.self) }

  func data(_ slot: Int) -> Data { Data(bytes(slot)) }

  /// Valid as long as the snapshot is retained.
  func bytes(_ slot: Int) -> UnsafeRawBufferPointer {
    let place = UInt64(bitPattern: integer(slot))
    return UnsafeRawBufferPointer(start: row + Int(place & 0xFFFF_FFFF), count: Int(place >> 32))
  }

  @inlinable @inline(__always)
  var row: UnsafeRawPointer { UnsafeRawPointer(chunk.base) + Int(truncatingIfNeeded: offset) }
}
