import Foundation

/// A row of a ``RowSnapshot`` that isn't retained, and is valid as long as the snapshot is retained elsewhere.
///
/// Retaining and releasing a chunk costs more than decoding a number.
@usableFromInline @frozen
struct RowView {
  @usableFromInline let row: UnsafeRawPointer

  @inlinable @inline(__always)
  init(row: UnsafeRawPointer) { self.row = row }

  /// The optimistic-lock counter, `Z_OPT`, when the row was read.
  @inline(__always)
  var version: Int64 { RowVersion.load(of: row) }

  @inlinable @inline(__always)
  func isNull(_ slot: Int, of slotCount: Int) -> Bool {
    let bits = row.load(fromByteOffset: 4 &+ slotCount &* 8 &+ slot &>> 3, as: UInt8.self)
    return bits & (1 &<< UInt8(truncatingIfNeeded: slot & 7)) != 0
  }

  @inlinable @inline(__always)
  func integer(_ slot: Int) -> Int64 { row.loadUnaligned(fromByteOffset: 4 &+ slot &* 8, as: Int64.self) }

  @inline(__always)
  func double(_ slot: Int) -> Double { Double(bitPattern: UInt64(bitPattern: integer(slot))) }

  @inline(__always)
  func string(_ slot: Int) -> String { String(decoding: bytes(slot), as: UTF8.self) }

  @inline(__always)
  func data(_ slot: Int) -> Data { Data(bytes(slot)) }

  /// Nil if the value doesn't have sixteen bytes.
  @inline(__always)
  func uuid(_ slot: Int) -> UUID? {
    let bytes = bytes(slot)
    return bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
  }

  @inline(__always)
  func bytes(_ slot: Int) -> UnsafeRawBufferPointer {
    let place = UInt64(bitPattern: integer(slot))
    return UnsafeRawBufferPointer(start: row + Int(place & 0xFFFF_FFFF), count: Int(place >> 32))
  }
}
