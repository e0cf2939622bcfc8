import Foundation
import Persist

/// Writes the parts of keys and values, so that their bytes have the order of the parts.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var data: Data { Data(bytes) }

  mutating func byte(_ value: UInt8) { bytes.append(value) }
  mutating func raw(_ data: Data) { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
  mutating func raw(_ part: ArraySlice<UInt8>) { bytes.append(contentsOf: part) }
  mutating func fixed(_ value: UInt32) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }
  mutating func fixed(_ value: UInt64) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }
  mutating func uuid(_ value: UUID) { withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) } }

  /// A number in as few bytes as possible, seven bits in each.
  mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 127 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Removes the bytes, whose memory is used again.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Bytes after their count.
  mutating func counted(_ part: ArraySlice<UInt8>) {
    number(UInt64(part.count))
    raw(part)
  }

  mutating func counted(_ data: Data) {
    number(UInt64(data.count))
    raw(data)
  }

  mutating func counted(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      number(UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }
}

/// Reads what a ``ByteWriter`` wrote. Everything is checked: the bytes may come from anybody.
struct ByteReader {
  private let bytes: [UInt8]
  private(set) var position: Int
  private let limit: Int

  init(_ data: Data) { self.init([UInt8](data)) }

  init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

  /// Reads a part of bytes, without a copy.
  init(_ bytes: [UInt8], _ range: Range<Int>) {
    (self.bytes, position, limit) = (bytes, range.lowerBound, range.upperBound)
  }

  var isAtEnd: Bool { position == limit }
  var remainingCount: Int { limit - position }

  mutating func byte() throws -> UInt8 {
    guard position < limit else { throw SyncFormat.error("It ends early.") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func raw(_ count: Int) throws -> Data { Data(bytes[try range(count)]) }

  /// Skips bytes.
  ///
  /// - Returns: Their positions.
  mutating func range(_ count: Int) throws -> Range<Int> {
    guard count >= 0, count <= remainingCount else { throw SyncFormat.error("It ends early.") }
    defer { position += count }
    return position..<position + count
  }

  mutating func rest() -> Data {
    defer { position = limit }
    return Data(bytes[position..<limit])
  }

  mutating func fixed32() throws -> UInt32 { UInt32(bigEndian: try fixed()) }
  mutating func fixed64() throws -> UInt64 { UInt64(bigEndian: try fixed()) }
  mutating func uuid() throws -> UUID { UUID(uuid: try fixed()) }

  /// The bytes of a value without references, such as a number.
  private mutating func fixed<Value: BitwiseCopyable>() throws -> Value {
    let range = try range(MemoryLayout<Value>.size)
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: range.lowerBound, as: Value.self) }
  }

  /// Reads a number, mostly of one byte.
  mutating func number() throws -> UInt64 {
    guard position < limit, bytes[position] < 128 else { return try longNumber() }
    defer { position += 1 }
    return UInt64(bytes[position])
  }

  @inline(never)
  private mutating func longNumber() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || next < 2 else { throw SyncFormat.error("A number is too large.") }
      guard next > 0 || shift == 0 else { throw SyncFormat.error("A number has zeros at its end.") }
      value |= UInt64(next & 127) << shift
      if next < 128 { return value }
      shift += 7
    }
  }

  /// - Parameter limit: The maximum of an acceptable number.
  mutating func count(upTo limit: Int) throws -> Int {
    let number = try number()
    guard number <= UInt64(limit) else { throw SyncFormat.error("A size of \(number) exceeds the limit of \(limit).") }
    return Int(number)
  }

  mutating func counted(upTo limit: Int = SyncFormat.maximumValueSize) throws -> Data { try raw(count(upTo: limit)) }

  /// Skips bytes after their count.
  mutating func countedRange(upTo limit: Int = SyncFormat.maximumValueSize) throws -> Range<Int> {
    try range(count(upTo: limit))
  }

  mutating func text(upTo limit: Int = SyncFormat.maximumNameSize) throws -> String {
    let range = try countedRange(upTo: limit)
    let text: String? = bytes.withUnsafeBytes { bytes in
      let part = UnsafeRawBufferPointer(rebasing: bytes[range])
      // Texts of ASCII characters are valid, and made without looking up a type at run time.
      if part.allSatisfy({ $0 < 128 }) { return String(decoding: part, as: UTF8.self) }
      return String(validating: part, as: UTF8.self)
    }
    guard let text else { throw SyncFormat.error("A text isn't valid UTF-8.") }
    return text
  }

  /// Skips a text.
  mutating func skipText(upTo limit: Int) throws {
    let start = self
    let range = try countedRange(upTo: limit)
    // Texts of ASCII characters are valid.
    if bytes.withUnsafeBytes({ bytes in bytes[range].allSatisfy { $0 < 128 } }) { return }
    self = start
    _ = try text(upTo: limit)
  }

  /// - Throws: If something follows.
  func end() throws {
    if !isAtEnd { throw SyncFormat.error("It has \(remainingCount) bytes too many.") }
  }
}

extension Data {
  /// Whether the bytes come first in lexicographic order.
  func precedes(_ other: Data) -> Bool {
    withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.order(beside: $0) < 0 } }
  }

  /// The number of bytes at the beginning that are those of others.
  func sharedCount(with other: Data) -> Int {
    withUnsafeBytes { bytes in
      other.withUnsafeBytes { others in
        let end = Swift.min(bytes.count, others.count)
        var index = 0
        while index < end, bytes[index] == others[index] { index += 1 }
        return index
      }
    }
  }
}
