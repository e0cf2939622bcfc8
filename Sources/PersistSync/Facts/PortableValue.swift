import Foundation
import Persist

/// The form of values in facts: a byte for the type, and the content.
enum PortableValue {
  private enum Kind: UInt8 {
    case null, falseValue, trueValue, integer, double, decimal, string, date, data, uuid, uri, composite, reference
    case large
  }

  static func bytes(_ value: StoredValue) -> Data {
    var writer = ByteWriter()
    write(value, to: &writer)
    return writer.data
  }

  static func write(_ value: StoredValue, to writer: inout ByteWriter) {
    func kind(_ kind: Kind) { writer.byte(kind.rawValue) }
    switch value {
    case .null, .objectID: kind(.null)
    case .boolean(let value): kind(value ? .trueValue : .falseValue)
    case .integer(let value):
      kind(.integer)
      writer.number(UInt64(bitPattern: value << 1 ^ value >> 63))
    case .double(let value):
      kind(.double)
      writer.fixed((value == 0 ? 0 : value).bitPattern)
    case .decimal(let value):
      kind(.decimal)
      writer.counted(value.description)
    case .string(let value):
      kind(.string)
      writer.counted(value)
    case .date(let value):
      kind(.date)
      let seconds = value.timeIntervalSinceReferenceDate
      writer.fixed((seconds == 0 ? 0 : seconds).bitPattern)
    case .data(let value):
      kind(.data)
      writer.counted(value)
    case .uuid(let value):
      kind(.uuid)
      writer.uuid(value)
    case .uri(let value):
      kind(.uri)
      writer.counted(value)
    case .composite(let parts):
      kind(.composite)
      writer.number(UInt64(parts.count))
      for (name, part) in parts.sorted(by: { $0.key < $1.key }) {
        writer.counted(name)
        write(part, to: &writer)
      }
    }
  }

  /// A reference to one life of an object.
  static func bytes(referringTo identity: Identity, life: UInt32) -> Data {
    var writer = ByteWriter()
    writer.byte(Kind.reference.rawValue)
    writer.fixed(life)
    writer.raw(identity.bytes)
    return writer.data
  }

  /// A large value, whose parts are apart.
  static func bytes(_ value: LargeValue) -> Data {
    var writer = ByteWriter()
    writer.byte(Kind.large.rawValue)
    value.write(to: &writer)
    return writer.data
  }

  /// The content of a register.
  enum Content {
    case value(StoredValue)
    case large(LargeValue)
    case reference(Identity, life: UInt32)
  }

  /// The object to which a content refers; nil for none.
  static func reference(_ data: Data) -> (identity: Identity, life: UInt32)? {
    guard data.first == Kind.reference.rawValue, case .reference(let identity, let life)? = try? content(data) else {
      return nil
    }
    return (identity, life)
  }

  /// The large value of a content; nil for others.
  static func large(_ data: Data) -> LargeValue? {
    guard data.first == Kind.large.rawValue, case .large(let value)? = try? content(data) else { return nil }
    return value
  }

  /// The life and the place of the identity in a content that ``isReference(_:_:)``.
  static func reference(_ bytes: [UInt8], _ range: Range<Int>) throws -> (life: UInt32, identity: Range<Int>) {
    var reader = ByteReader(bytes, range)
    _ = try reader.byte()
    let life = try reader.fixed32()
    guard (1...SyncFormat.maximumNameSize).contains(reader.remainingCount) else { throw hasNoIdentity }
    return (life, reader.position..<range.upperBound)
  }

  static func content(_ data: Data) throws -> Content { try content([UInt8](data), 0..<data.count) }

  static func content(_ bytes: [UInt8], _ range: Range<Int>) throws -> Content {
    var reader = ByteReader(bytes, range)
    if isReference(bytes, range) {
      let (life, identity) = try reference(bytes, range)
      return .reference(Identity(bytes: Data(bytes[identity])), life: life)
    }
    if isLarge(bytes, range) {
      _ = try reader.byte()
      let value = try LargeValue(&reader)
      try reader.end()
      return .large(value)
    }
    let value = try read(&reader, depth: 0)
    try reader.end()
    return .value(value)
  }

  private static var hasNoIdentity: PersistenceError { SyncFormat.error("A reference has no identity.") }

  /// Whether a content is a large value.
  static func isLarge(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    !range.isEmpty && bytes[range.lowerBound] == Kind.large.rawValue
  }

  /// Whether a content is a reference to an object.
  static func isReference(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    !range.isEmpty && bytes[range.lowerBound] == Kind.reference.rawValue
  }

  /// Checks a content without copying it.
  ///
  /// - Throws: The errors of ``content(_:_:)``.
  static func check(_ bytes: [UInt8], _ range: Range<Int>) throws {
    var reader = ByteReader(bytes, range)
    switch Kind(rawValue: try reader.byte()) {
    case .null, .falseValue, .trueValue: break
    case .integer: _ = try reader.number()
    case .double, .date: _ = try reader.fixed64()
    case .string, .uri: try reader.skipText(upTo: SyncFormat.maximumValueSize)
    case .data: _ = try reader.countedRange()
    case .uuid: _ = try reader.uuid()
    case .reference:
      _ = try reference(bytes, range)
      return
    case .decimal, .composite, .large, nil:
      _ = try content(bytes, range)
      return
    }
    try reader.end()
  }

  private static func read(_ reader: inout ByteReader, depth: Int) throws -> StoredValue {
    guard depth < SyncFormat.maximumDepth else { throw SyncFormat.error("A value is nested too deeply.") }
    switch Kind(rawValue: try reader.byte()) {
    case .null: return .null
    case .falseValue: return .boolean(false)
    case .trueValue: return .boolean(true)
    case .integer:
      let number = try reader.number()
      return .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    case .double: return .double(Double(bitPattern: try reader.fixed64()))
    case .decimal:
      let text = try reader.text()
      guard let value = Decimal(string: text), value.description == text else {
        throw SyncFormat.error("'\(text.prefix(50))' isn't a decimal number.")
      }
      return .decimal(value)
    case .string: return .string(try reader.text(upTo: SyncFormat.maximumValueSize))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.fixed64())))
    case .data: return .data(try reader.counted())
    case .uuid: return .uuid(try reader.uuid())
    case .uri: return .uri(try reader.text(upTo: SyncFormat.maximumValueSize))
    case .composite:
      var parts: [String: StoredValue] = [:]
      for _ in 0..<(try reader.count(upTo: 1000)) {
        let name = try reader.text()
        parts[name] = try read(&reader, depth: depth + 1)
      }
      return .composite(parts)
    case .reference, .large, nil: throw SyncFormat.error("A value has an unknown type.")
    }
  }
}
