import Foundation
import Persist

/// Values in PostgreSQL's binary form: numbers with the most significant byte first.
extension ServerParameter {
  static func integer(_ value: Int64) -> ServerParameter {
    ServerParameter(type: .integer, bytes: Array(unsafe: value.bigEndian))
  }

  static func double(_ value: Double) -> ServerParameter {
    ServerParameter(type: .double, bytes: Array(unsafe: value.bitPattern.bigEndian))
  }

  static func text(_ value: String) -> ServerParameter { ServerParameter(type: .text, bytes: Array(value.utf8)) }
  static func bytes(_ value: Data) -> ServerParameter { ServerParameter(type: .bytes, bytes: Array(value)) }

  /// Nil for bytes that are no UUID.
  static func uuid(_ value: Data) -> ServerParameter? {
    value.count == 16 ? ServerParameter(type: .uuid, bytes: Array(value)) : nil
  }

  static func integers(_ values: some Collection<Int64>) -> ServerParameter {
    let count = values.count
    guard count > 0 else { return ArrayParameter(.integers, of: .integer, count: 0).parameter }
    let size = ArrayParameter.headSize + count * 12
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, written in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      var place = 0
      for word in ArrayParameter.head(of: .integer, count: count, mayHaveNull: false) {
        raw.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt32.self)
        place += 4
      }
      for value in values.prefix(count) {
        raw.storeBytes(of: UInt32(8).bigEndian, toByteOffset: place, as: UInt32.self)
        raw.storeBytes(of: value.bigEndian, toByteOffset: place + 4, as: Int64.self)
        place += 12
      }
      written = place
    }
    return ServerParameter(type: .integers, bytes: bytes)
  }
}

extension Array where Element == UInt8 {
  /// The bytes of a trivial value.
  fileprivate init<Value: BitwiseCopyable>(unsafe value: Value) {
    self = Swift.withUnsafeBytes(of: value) { Array($0) }
  }
}

/// An array of values in PostgreSQL's binary form, as it is written.
///
/// - SeeAlso: The function `array_send` of PostgreSQL's documentation of binary formats.
struct ArrayParameter {
  private let type: ServerParameter.ValueType
  private var buffer: [UInt8]
  private let maximumCount: Int
  private var count = 0

  /// - Parameter count: The maximum number of values; 0 if there are none.
  init(_ type: ServerParameter.ValueType, of element: ServerParameter.ValueType, count: Int) {
    self.type = type
    maximumCount = count
    buffer = []
    buffer.reserveCapacity(20 + count * 12)
    for word in Self.head(of: element, count: count, mayHaveNull: true) { append(word: word) }
  }

  /// The size in bytes of what comes before the values of an array that isn't empty.
  static let headSize = 20

  /// Dimensions, whether there may be nulls, type of the elements, count, and the index of the first element.
  static func head(of element: ServerParameter.ValueType, count: Int, mayHaveNull: Bool) -> [UInt32] {
    let words: [UInt32] = [count == 0 ? 0 : 1, mayHaveNull ? 1 : 0, element.rawValue]
    return count == 0 ? words : words + [UInt32(truncatingIfNeeded: count), 1]
  }

  private mutating func append(word: UInt32) { withUnsafeBytes(of: word.bigEndian) { buffer.append(contentsOf: $0) } }

  private mutating func begin(length: Int) {
    count += 1
    append(word: UInt32(truncatingIfNeeded: length))
  }

  mutating func append(_ value: some FixedWidthInteger) {
    begin(length: value.bitWidth / 8)
    withUnsafeBytes(of: value.bigEndian) { buffer.append(contentsOf: $0) }
  }

  mutating func append(_ value: Double) { append(value.bitPattern) }

  mutating func append(_ value: String) {
    begin(length: value.utf8.count)
    buffer.append(contentsOf: value.utf8)
  }

  mutating func append(_ value: Data, prefix: UInt8? = nil) {
    begin(length: value.count + (prefix == nil ? 0 : 1))
    if let prefix { buffer.append(prefix) }
    buffer.append(contentsOf: value)
  }

  mutating func append(bytes: UnsafeRawBufferPointer) {
    begin(length: bytes.count)
    buffer.append(contentsOf: bytes)
  }

  mutating func appendNull() { begin(length: -1) }

  /// The size of all values so far, in bytes.
  var size: Int { buffer.count }

  var parameter: ServerParameter {
    var bytes = buffer
    if count < maximumCount {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).bigEndian) { word in
        bytes.replaceSubrange(Self.countPlace..<Self.countPlace + 4, with: word)
      }
    }
    return ServerParameter(type: type, bytes: bytes)
  }

  /// The place of the number of values in an array that isn't empty.
  private static let countPlace = 12
}

extension ServerResult {
  func isNull(_ row: Int, _ column: Int) -> Bool { bytes(row, column) == nil }

  /// An integer of 8, 4 or 2 bytes; 0 for null.
  package func integer(_ row: Int, _ column: Int) -> Int64 {
    guard let bytes = bytes(row, column) else { return 0 }
    return switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: Int64(bytes[0])
    default: 0
    }
  }

  func double(_ row: Int, _ column: Int) -> Double { Double(bitPattern: UInt64(bitPattern: integer(row, column))) }

  func text(_ row: Int, _ column: Int) -> String {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  func data(_ row: Int, _ column: Int) -> Data { bytes(row, column).map { Data($0) } ?? Data() }
}
