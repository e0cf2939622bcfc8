public import Foundation

extension PropertyList {
  /// Returns the list in binary form (`bplist00`); equal lists produce equal bytes.
  ///
  /// Keys are ordered by their UTF-8 bytes; strings that occur several times are written once.
  ///
  /// - Throws: ``PersistenceError/Code/limitExceeded`` for a list that nests deeper than any reader accepts.
  public func binaryData() throws -> Data {
    var writer = BinaryPropertyListWriter()
    return try writer.data(for: self)
  }
}

/// Writes a property list in Apple's binary form.
private struct BinaryPropertyListWriter {
  /// A flattened object: containers hold the numbers of their elements.
  private enum Flat {
    case scalar(PropertyList)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }
  private var objects: [Flat] = []
  /// The object numbers of strings, which are written once: of those that are equal only if their bytes are.
  private var numbersOfASCII: [String: Int] = Dictionary()
  /// The object numbers of other strings, which few lists have. The first dictionary of a process with keys of another
  /// type than strings takes half a million instructions.
  private var numbersOfOthers: [PropertyList.ByteIdentity: Int] = Dictionary()

  mutating func data(for list: PropertyList) throws -> Data {
    let top = try add(list, depth: 0)
    let referenceSize = Self.size(for: UInt64(objects.count))
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      Self.append(object, referenceSize: referenceSize, to: &bytes)
    }
    let table = bytes.count
    let offsetSize = Self.size(for: UInt64(table))
    for offset in offsets { Self.append(UInt64(offset), size: offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [objects.count, top, table] { Self.append(UInt64(number), size: 8, to: &bytes) }
    return Data(bytes)
  }

  private mutating func add(_ value: PropertyList, depth: Int) throws -> Int {
    guard depth < PropertyList.Limits.depth else {
      throw PersistenceError(
        .limitExceeded, "A property list is nested more than \(PropertyList.Limits.depth) levels deep.")
    }
    switch value {
    case .string(let text):
      let number = objects.count
      let known: Int?
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        known = numbersOfASCII[text]
        if known == nil { numbersOfASCII[text] = number }
      } else {
        let identity = PropertyList.ByteIdentity(value)
        known = numbersOfOthers[identity]
        if known == nil { numbersOfOthers[identity] = number }
      }
      if let known { return known }
      objects.append(.scalar(value))
      return number
    case .array(let elements):
      let number = objects.count
      objects.append(.array([]))
      let numbers = try elements.map { try add($0, depth: depth + 1) }
      objects[number] = .array(numbers)
      return number
    case .dictionary(let entries):
      let number = objects.count
      objects.append(.dictionary(keys: [], values: []))
      let sorted = entries.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      let keys = try sorted.map { try add(.string($0.key), depth: depth + 1) }
      let values = try sorted.map { try add($0.value, depth: depth + 1) }
      objects[number] = .dictionary(keys: keys, values: values)
      return number
    default:
      objects.append(.scalar(value))
      return objects.count - 1
    }
  }

  private static func append(_ object: Flat, referenceSize: Int, to bytes: inout [UInt8]) {
    switch object {
    case .scalar(let value): append(value, to: &bytes)
    case .array(let elements):
      appendMarker(0xA0, count: elements.count, to: &bytes)
      for element in elements { append(UInt64(element), size: referenceSize, to: &bytes) }
    case .dictionary(let keys, let values):
      appendMarker(0xD0, count: keys.count, to: &bytes)
      for element in keys + values { append(UInt64(element), size: referenceSize, to: &bytes) }
    }
  }

  private static func append(_ value: PropertyList, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0x00)
    case .boolean(let value): bytes.append(value ? 0x09 : 0x08)
    case .integer(let value): append(value, to: &bytes)
    case .unsigned(let value):
      bytes.append(0x14)
      append(0, size: 8, to: &bytes)
      append(value, size: 8, to: &bytes)
    case .real(let value):
      bytes.append(0x23)
      append(value.bitPattern, size: 8, to: &bytes)
    case .date(let value):
      bytes.append(0x33)
      append(value.timeIntervalSinceReferenceDate.bitPattern, size: 8, to: &bytes)
    case .data(let value):
      appendMarker(0x40, count: value.count, to: &bytes)
      bytes += value
    case .string(let value):
      if value.utf8.allSatisfy({ $0 < 0x80 }) {
        appendMarker(0x50, count: value.utf8.count, to: &bytes)
        bytes += value.utf8
      } else {
        appendMarker(0x60, count: value.utf16.count, to: &bytes)
        for unit in value.utf16 { append(UInt64(unit), size: 2, to: &bytes) }
      }
    case .uid(let value):
      let size = size(for: value)
      bytes.append(0x80 | UInt8(size - 1))
      append(value, size: size, to: &bytes)
    case .array, .dictionary: preconditionFailure("Containers are written by their elements' numbers.")
    }
  }

  private static func append(_ value: Int64, to bytes: inout [UInt8]) {
    // Negative numbers take eight bytes: shorter ones would be read as unsigned.
    let size = value < 0 ? 8 : size(for: UInt64(value))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    append(UInt64(bitPattern: value), size: size, to: &bytes)
  }

  private static func appendMarker(_ kind: UInt8, count: Int, to bytes: inout [UInt8]) {
    if count < 0x0F {
      bytes.append(kind | UInt8(count))
    } else {
      bytes.append(kind | 0x0F)
      append(Int64(count), to: &bytes)
    }
  }

  private static func append(_ value: UInt64, size: Int, to bytes: inout [UInt8]) {
    for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }

  /// Returns the smallest size of 1, 2, 4 and 8 bytes that holds a number.
  private static func size(for value: UInt64) -> Int {
    switch value {
    case 0...0xFF: 1
    case 0...0xFFFF: 2
    case 0...0xFFFF_FFFF: 4
    default: 8
    }
  }
}
