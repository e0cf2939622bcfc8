import Foundation

/// Writes the parts of keys and values, so that their bytes have the order of the parts.
struct ByteWriter {
  private(set) var data = Data()

  mutating func byte(_ value: UInt8) { data.append(value) }
  mutating func raw(_ bytes: some Sequence<UInt8>) { data.append(contentsOf: bytes) }
  mutating func fixed(_ value: UInt32) { withUnsafeBytes(of: value.bigEndian) { data.append(contentsOf: $0) } }
  mutating func fixed(_ value: UInt64) { withUnsafeBytes(of: value.bigEndian) { data.append(contentsOf: $0) } }
  mutating func uuid(_ value: UUID) { withUnsafeBytes(of: value.uuid) { data.append(contentsOf: $0) } }

  /// A number in as few bytes as possible, seven bits in each.
  mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 127 {
      data.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    data.append(UInt8(rest))
  }

  /// Bytes after their count.
  mutating func counted(_ bytes: Data) {
    number(UInt64(bytes.count))
    data.append(bytes)
  }

  mutating func counted(_ text: String) { counted(Data(text.utf8)) }
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
    guard count >= 0, count <= remainingCount else { throw SyncFormat.error("It ends early.") }
    defer { position += count }
    return Data(data[position..<position + count])
  }

  mutating func rest() -> Data {
    defer { position = data.endIndex }
    return Data(data[position...])
  }

  mutating func fixed32() throws -> UInt32 { try raw(4).reduce(0) { $0 << 8 | UInt32($1) } }
  mutating func fixed64() throws -> UInt64 { try raw(8).reduce(0) { $0 << 8 | UInt64($1) } }

  mutating func uuid() throws -> UUID {
    try raw(16).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  mutating func number() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || next < 2 else { throw SyncFormat.error("A number is too large.") }
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
    guard let text = String(data: try counted(upTo: limit), encoding: .utf8) else {
      throw SyncFormat.error("A text isn't valid UTF-8.")
    }
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
    let shared = sharedCount(with: other)
    guard shared < count, shared < other.count else { return count < other.count }
    return self[startIndex + shared] < other[other.startIndex + shared]
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
