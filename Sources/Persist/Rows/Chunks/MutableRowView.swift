/// The fixed part of a row that is being written: its version, slots and null bits.
///
/// The caller holds the row's chunk, and nobody else reads the row yet.
struct MutableRowView {
  private let row: UnsafeMutableRawPointer
  private let nulls: UnsafeMutableRawPointer

  @inline(__always)
  init(row: UnsafeMutableRawPointer, slotCount: Int) {
    self.row = row
    nulls = row + (4 &+ slotCount &* 8)
  }

  /// The fixed part of a row that belongs to the caller alone.
  @inline(__always)
  init(_ view: RowView, slotCount: Int) {
    self.init(row: UnsafeMutableRawPointer(mutating: view.row), slotCount: slotCount)
  }

  /// The same row after its bytes were copied elsewhere.
  func moved(to place: UnsafeMutableRawPointer) -> MutableRowView {
    MutableRowView(row: place, nulls: place + (nulls - row))
  }

  private init(row: UnsafeMutableRawPointer, nulls: UnsafeMutableRawPointer) {
    self.row = row
    self.nulls = nulls
  }

  /// - Parameter version: One that fits the row, or for which there are bytes before it; see ``RowVersion``.
  @inline(__always)
  func setVersion(_ version: Int64) { RowVersion.store(version, of: row) }

  /// Makes every slot null.
  @inline(__always)
  func setAllNull(slotCount: Int) {
    var slot = 0
    while slot &+ 64 <= slotCount {
      nulls.storeBytes(of: UInt64.max, toByteOffset: slot &>> 3, as: UInt64.self)
      slot &+= 64
    }
    while slot < slotCount {
      nulls.storeBytes(of: UInt8.max, toByteOffset: slot &>> 3, as: UInt8.self)
      slot &+= 8
    }
  }

  @inline(__always)
  func setNull(slot: Int) {
    let bits = nulls + slot &>> 3
    bits.storeBytes(of: bits.load(as: UInt8.self) | 1 &<< UInt8(truncatingIfNeeded: slot & 7), as: UInt8.self)
  }

  @inline(__always)
  func setInteger(_ value: Int64, slot: Int) {
    row.storeBytes(of: value, toByteOffset: 4 &+ slot &* 8, as: Int64.self)
    let bits = nulls + slot &>> 3
    bits.storeBytes(of: bits.load(as: UInt8.self) & ~(1 &<< UInt8(truncatingIfNeeded: slot & 7)), as: UInt8.self)
  }

  /// - Parameters:
  ///   - start: The offset of the bytes from the row.
  ///   - count: Their number.
  @inline(__always)
  func setBytes(at start: Int, count: Int, slot: Int) {
    let place = UInt64(UInt32(truncatingIfNeeded: start)) | UInt64(UInt32(truncatingIfNeeded: count)) &<< 32
    setInteger(Int64(bitPattern: place), slot: slot)
  }

  /// Normalizes negative zero to positive zero, as SQLite does when it writes a file, so that a saved row equals the
  /// row read back.
  ///
  /// - SeeAlso: <https://sqlite.org/floatingpoint.html>
  @inline(__always)
  func setDouble(_ value: Double, slot: Int) {
    setInteger(Int64(bitPattern: (value + 0).bitPattern), slot: slot)
  }
}
