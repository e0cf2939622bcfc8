/// The form of a row's version in a chunk: four bytes, for nearly every row.
///
/// Versions count saves, but programs may write any number. One that doesn't fit is in the eight bytes before the row.
enum RowVersion {
  /// Stands for a version in the bytes before the row.
  private static let before = UInt32.max
  private static let greatest = Int64(before) - 1

  /// The number of bytes before the row.
  @inline(__always)
  static func lead(_ version: Int64) -> Int { fits(version) ? 0 : 8 }

  /// Whether a version is within the row.
  @inline(__always)
  static func fits(_ version: Int64) -> Bool { version >= 0 && version <= greatest }

  @inline(__always)
  static func load(of row: UnsafeRawPointer) -> Int64 {
    let version = row.loadUnaligned(as: UInt32.self)
    return version == before ? (row - 8).loadUnaligned(as: Int64.self) : Int64(version)
  }

  /// - Parameter row: A row with ``lead(_:)`` bytes before it.
  @inline(__always)
  static func store(_ version: Int64, of row: UnsafeMutableRawPointer) {
    row.storeBytes(of: fits(version) ? UInt32(truncatingIfNeeded: version) : before, as: UInt32.self)
    if !fits(version) { (row - 8).storeBytes(of: version, as: Int64.self) }
  }
}
