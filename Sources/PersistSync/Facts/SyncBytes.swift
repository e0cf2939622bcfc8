import Foundation

/// Writes the parts of keys and values, so that their bytes have the order of the parts.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var data: Data { Data(bytes) }

  mutating func byte(_ value: UInt8) { bytes.append(value) }
  mutating func raw(_ data: Data) { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
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

  /// Bytes after their count.
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
  private let data: Data
  private var position: Int

  init(_ data: Data) { (self.data, position) = (data, data.startIndex) }

  var isAtEnd: Bool { position == data.endIndex }
  var remainingCount: Int { data.endIndex - position }

  mutating func byte() throws -> UInt8 {
    guard position < data.endIndex else { throw SyncFormat.error("It ends early.") }
    defer { position += 1 }
    return data[position]
  }

  mutating func raw(_ count: Int) throws -> Data {
    let start = try skip(count)
    return data.subdata(in: start..<position)
  }

  /// - Returns: The position of the bytes that were skipped.
  private mutating func skip(_ count: Int) throws -> Int {
    guard count >= 0, count <= remainingCount else { throw SyncFormat.error("It ends early.") }
    defer { position += count }
    return position
  }

  mutating func rest() -> Data {
    defer { position = data.endIndex }
    return data.subdata(in: position..<data.endIndex)
  }

  mutating func fixed32() throws -> UInt32 { UInt32(bigEndian: try fixed()) }
  mutating func fixed64() throws -> UInt64 { UInt64(bigEndian: try fixed()) }
  mutating func uuid() throws -> UUID { UUID(uuid: try fixed()) }

  /// The bytes of a value without references, such as a number.
  private mutating func fixed<Value: BitwiseCopyable>() throws -> Value {
    let offset = try skip(MemoryLayout<Value>.size) - data.startIndex
    return data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
  }

  mutating func number() throws -> UInt64 {
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

  mutating func text(upTo limit: Int = SyncFormat.maximumNameSize) throws -> String {
    let count = try count(upTo: limit)
    let offset = try skip(count) - data.startIndex
    let text = data.withUnsafeBytes { bytes in
      String(validating: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]), as: UTF8.self)
    }
    guard let text else { throw SyncFormat.error("A text isn't valid UTF-8.") }
    return text
  }

  /// - Throws: If something follows.
  func end() throws {
    if !isAtEnd { throw SyncFormat.error("It has \(remainingCount) bytes too many.") }
  }
}

extension Data {
  /// Whether the bytes come first in lexicographic order.
  func precedes(_ other: Data) -> Bool {
    withUnsafeBytes { bytes in
      other.withUnsafeBytes { others in
        guard let first = bytes.baseAddress, let second = others.baseAddress else { return !others.isEmpty }
        let order = memcmp(first, second, Swift.min(bytes.count, others.count))
        return order == 0 ? bytes.count < others.count : order < 0
      }
    }
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
