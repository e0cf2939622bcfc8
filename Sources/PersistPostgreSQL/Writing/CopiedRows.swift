import Foundation
import Persist

/// Rows in the binary form of `COPY`, made of the columns that an insertion would have as arrays: both contain each
/// value with its length before it.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/sql-copy.html>
struct CopiedRows {
  private(set) var bytes: [UInt8] = []

  /// The number of rows from which they are copied: it takes less time for each row, about 0.7 µs, and three further
  /// round trips, of up to a millisecond each.
  static let minimumCount = 2500

  /// - Parameters:
  ///   - keys: The key of each row.
  ///   - number: The entity's number.
  ///   - versions: The version of each row.
  init(keys: ArraySlice<Int64>, number: Int64, versions: [Int64], _ columns: [ServerColumn]) {
    var values = columns.map { Values($0.parameter.bytes ?? [], isDecimal: $0.kind == .decimal) }
    bytes.reserveCapacity(values.reduce(64 + keys.count * 38) { $0 + $1.size })
    bytes += Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    // No flags, and no extension of the header.
    bytes += [UInt8](repeating: 0, count: 8)
    for (key, version) in zip(keys, versions) {
      append(Int16(truncatingIfNeeded: 3 + values.count))
      for value in [key, number, version] {
        append(8 as Int32)
        append(value)
      }
      for index in values.indices { values[index].moveNext(to: &bytes) }
    }
    append(-1 as Int16)
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// The elements of an array in binary form, one after the other.
  private struct Values {
    private let array: [UInt8]
    private let isDecimal: Bool
    /// The next element follows the dimensions of the array.
    private var position = 20

    init(_ array: [UInt8], isDecimal: Bool) { (self.array, self.isDecimal) = (array, isDecimal) }

    var size: Int { array.count }

    mutating func moveNext(to bytes: inout [UInt8]) {
      guard position + 4 <= array.count else { return }
      let length = array.withUnsafeBytes {
        Int(Int32(bigEndian: $0.loadUnaligned(fromByteOffset: position, as: Int32.self)))
      }
      let end = position + 4 + max(length, 0)
      let element = array[position..<min(end, array.count)]
      position = end
      guard isDecimal, length >= 0 else { return bytes += element }
      let number = DecimalBytes(String(decoding: element.dropFirst(4), as: UTF8.self)).bytes
      withUnsafeBytes(of: Int32(truncatingIfNeeded: number.count).bigEndian) { bytes.append(contentsOf: $0) }
      bytes += number
    }
  }
}

/// A decimal number in the binary form of `numeric`: groups of four digits.
///
/// - SeeAlso: The function `numeric_send` of PostgreSQL.
struct DecimalBytes {
  let bytes: [UInt8]

  /// - Parameter text: Digits with a point and a sign at most.
  init(_ text: String) {
    let isNegative = text.hasPrefix("-")
    let absolute = text.drop { $0 == "-" || $0 == "+" }
    let parts = absolute.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    var whole = Array(parts.first.map(String.init) ?? "")[...]
    var fraction = Array(parts.count > 1 ? String(parts[1]) : "")
    let scale = fraction.count
    while whole.first == "0" { whole = whole.dropFirst() }
    let padding = (4 - whole.count % 4) % 4
    fraction += [Character](repeating: "0", count: (4 - fraction.count % 4) % 4)
    let digits = [Character](repeating: "0", count: padding) + whole + fraction
    var groups: ArraySlice<Int16> = []
    for start in stride(from: 0, to: digits.count, by: 4) {
      var group: Int16 = 0
      for digit in digits[start..<start + 4] { group = group * 10 + Int16(digit.wholeNumberValue ?? 0) }
      groups.append(group)
    }
    // The power of 10,000 of the first group.
    var weight = (whole.count + padding) / 4 - 1
    while groups.first == 0 {
      groups = groups.dropFirst()
      weight -= 1
    }
    while groups.last == 0 { groups = groups.dropLast() }
    let head = [
      Int16(truncatingIfNeeded: groups.count), Int16(truncatingIfNeeded: groups.isEmpty ? 0 : weight),
      isNegative && !groups.isEmpty ? 0x4000 : 0, Int16(truncatingIfNeeded: scale),
    ]
    bytes = (head + groups).flatMap { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  }
}
