import Foundation

/// Reads Apple's binary property lists, including the UIDs of keyed archives.
///
/// The layout: the eight bytes `bplist00`, objects, a table of their offsets, and a trailer of 32 bytes, all numbers
/// big-endian. Each object starts with a marker byte: its kind in the upper half, its size in the lower.
///
/// Foundation is no substitute: on Linux it returns the UIDs of an archive as objects of a type that isn't public.
///
/// Every offset, size and reference is checked. An object that is referenced more than once is decoded once and shared.
/// The reader counts the values that the list would contain with every reference expanded, so that nested shared arrays
/// can't make a small file cost unbounded time later.
struct BinaryPropertyListReader {
  private let bytes: [UInt8]
  private let place: PersistenceError.Place
  private let referenceSize: Int
  private let topObject: Int
  private let offsets: [Int]
  /// The end of the objects, which lie between the header and the offset table.
  private let objectEnd: Int

  private enum Slot {
    case unread
    case beingRead
    case read(PropertyList, expandedValues: Int)
  }
  private var slots: [Slot]

  init(_ bytes: [UInt8], place: PersistenceError.Place) throws {
    self.bytes = bytes
    self.place = place
    func refuse(_ message: String) -> PersistenceError {
      PersistenceError(.malformedFile, at: place, "The binary property list is damaged: \(message)")
    }
    let trailerSize = 32
    guard bytes.starts(with: Array("bplist0".utf8)) else { throw refuse("it isn't of version 0.") }
    guard bytes.count >= 8 + 1 + 1 + trailerSize else { throw refuse("it ends too early.") }
    let trailer = bytes.count - trailerSize
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw refuse("its offsets have \(offsetSize) bytes and its references \(referenceSize); 1 to 8 are possible.")
    }
    guard let count = Self.number(bytes, at: trailer + 8, size: 8),
      let top = Self.number(bytes, at: trailer + 16, size: 8),
      let table = Self.number(bytes, at: trailer + 24, size: 8)
    else { throw refuse("its trailer holds numbers out of range.") }
    guard table >= 9, table <= trailer, count >= 1, count <= (trailer - table) / offsetSize, top < count else {
      throw refuse("its trailer names \(count) objects at \(table), which the file doesn't have.")
    }
    topObject = top
    objectEnd = table
    offsets = try (0..<count).map { index in
      guard let offset = Self.number(bytes, at: table + index * offsetSize, size: offsetSize),
        offset >= 8, offset < table
      else { throw refuse("object \(index) lies outside the file.") }
      return offset
    }
    slots = Array(repeating: .unread, count: count)
  }

  func read() throws -> PropertyList {
    var reader = self
    return try reader.object(topObject, depth: 0).value
  }

  private mutating func object(_ index: Int, depth: Int) throws -> (value: PropertyList, expandedValues: Int) {
    guard slots.indices.contains(index) else { throw damaged("a reference names the missing object \(index).") }
    switch slots[index] {
    case .read(let value, let expandedValues): return (value, expandedValues)
    case .beingRead: throw damaged("object \(index) contains itself.")
    case .unread: break
    }
    guard depth < PropertyList.Limits.depth else {
      throw PersistenceError(
        .limitExceeded, at: place, "The property list is nested more than \(PropertyList.Limits.depth) levels deep.")
    }
    slots[index] = .beingRead
    let result = try decode(at: offsets[index], depth: depth)
    slots[index] = .read(result.value, expandedValues: result.expandedValues)
    return result
  }

  private mutating func decode(at offset: Int, depth: Int) throws -> (value: PropertyList, expandedValues: Int) {
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0:
      switch low {
      case 0x0: return (.null, 1)
      case 0x8: return (.boolean(false), 1)
      case 0x9: return (.boolean(true), 1)
      default: throw damaged("there is no kind of object with the marker \(marker), at byte \(offset).")
      }
    case 0x1: return (try integer(at: offset, exponent: low), 1)
    case 0x2: return (.real(try real(at: offset, exponent: low)), 1)
    case 0x3:
      guard low == 3 else { throw damaged("the date at byte \(offset) hasn't eight bytes.") }
      return (.date(Date(timeIntervalSinceReferenceDate: try real(at: offset, exponent: 3))), 1)
    case 0x4:
      let (start, count) = try extent(at: offset, unit: 1)
      return (.data(Data(bytes[start..<start + count])), 1)
    case 0x5:
      let (start, count) = try extent(at: offset, unit: 1)
      return (.string(try asciiText(bytes[start..<start + count], at: offset)), 1)
    case 0x6:
      let (start, count) = try extent(at: offset, unit: 2)
      let units = (0..<count).map { UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]) }
      return (.string(try utf16Text(units, at: offset)), 1)
    case 0x8:
      let size = low + 1
      guard size <= 8, let range = range(from: offset + 1, count: size) else {
        throw damaged("the UID at byte \(offset) doesn't fit.")
      }
      return (.uid(bytes[range].reduce(0) { $0 << 8 | UInt64($1) }), 1)
    case 0xA, 0xB, 0xC:
      let (start, count) = try extent(at: offset, unit: referenceSize)
      return try array(start: start, count: count, depth: depth)
    case 0xD:
      let (start, count) = try extent(at: offset, unit: 2 * referenceSize)
      return try dictionary(start: start, count: count, depth: depth, offset: offset)
    default: throw damaged("there is no kind of object with the marker \(marker), at byte \(offset).")
    }
  }

  private mutating func array(
    start: Int, count: Int, depth: Int
  ) throws -> (value: PropertyList, expandedValues: Int) {
    var elements: [PropertyList] = []
    elements.reserveCapacity(count)
    var expandedValues = 1
    for index in 0..<count {
      let element = try object(try reference(at: start + index * referenceSize), depth: depth + 1)
      elements.append(element.value)
      expandedValues += element.expandedValues
      try checkExpansion(expandedValues)
    }
    return (.array(elements), expandedValues)
  }

  private mutating func dictionary(
    start: Int, count: Int, depth: Int, offset: Int
  ) throws -> (value: PropertyList, expandedValues: Int) {
    var entries: [String: PropertyList] = Dictionary()
    entries.reserveCapacity(count)
    var expandedValues = 1
    for index in 0..<count {
      let key = try object(try reference(at: start + index * referenceSize), depth: depth + 1)
      guard case .string(let name) = key.value else {
        throw damaged("the dictionary at byte \(offset) has a key that isn't a string.")
      }
      let value = try object(try reference(at: start + (count + index) * referenceSize), depth: depth + 1)
      guard entries.updateValue(value.value, forKey: name) == nil else {
        throw damaged("the dictionary at byte \(offset) has the key '\(name)' twice.")
      }
      expandedValues += value.expandedValues + 1
      try checkExpansion(expandedValues)
    }
    return (.dictionary(entries), expandedValues)
  }

  private func checkExpansion(_ values: Int) throws {
    guard values > PropertyList.Limits.expandedValues else { return }
    let limit = PropertyList.Limits.expandedValues
    throw PersistenceError(
      .limitExceeded, at: place, "The property list expands to more than \(limit) values, counting repetitions.")
  }

  /// Reads a whole number of 1, 2, 4, 8 or 16 bytes. Numbers of up to four bytes are unsigned, longer ones signed.
  private func integer(at offset: Int, exponent: Int) throws -> PropertyList {
    guard exponent <= 4, let range = range(from: offset + 1, count: 1 << exponent) else {
      throw damaged("the integer at byte \(offset) doesn't fit.")
    }
    let low = bytes[range].suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard exponent == 4 else { return .integer(Int64(bitPattern: low)) }
    let high = bytes[range].prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch (high, Int64(exactly: low)) {
    case (0, let value?): return .integer(value)
    case (0, nil): return .unsigned(low)
    case (.max, _) where Int64(bitPattern: low) < 0: return .integer(Int64(bitPattern: low))
    default: throw damaged("the whole number at byte \(offset) needs more than 64 bits.")
    }
  }

  private func real(at offset: Int, exponent: Int) throws -> Double {
    guard exponent == 2 || exponent == 3, let range = range(from: offset + 1, count: 1 << exponent) else {
      throw damaged("the real number at byte \(offset) doesn't have four or eight bytes.")
    }
    let bits = bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return exponent == 3 ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }

  private func asciiText(_ units: ArraySlice<UInt8>, at offset: Int) throws -> String {
    guard units.allSatisfy({ $0 < 0x80 }) else { throw damaged("the text at byte \(offset) isn't ASCII.") }
    return String(decoding: units, as: UTF8.self)
  }

  private func utf16Text(_ units: [UInt16], at offset: Int) throws -> String {
    var index = 0
    while index < units.count {
      if UTF16.isLeadSurrogate(units[index]), index + 1 < units.count, UTF16.isTrailSurrogate(units[index + 1]) {
        index += 2
      } else if UTF16.isSurrogate(units[index]) {
        throw damaged("the text at byte \(offset) has half a surrogate pair.")
      } else {
        index += 1
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  private func reference(at offset: Int) throws -> Int {
    guard let index = Self.number(bytes, at: offset, size: referenceSize) else {
      throw damaged("the reference at byte \(offset) is out of range.")
    }
    return index
  }

  /// Returns the range of an object's contents. Its size is in the marker, or in a whole number after it.
  private func extent(at offset: Int, unit: Int) throws -> (start: Int, count: Int) {
    var count = Int(bytes[offset] & 0x0F)
    var start = offset + 1
    if count == 0x0F {
      guard start < objectEnd, bytes[start] >> 4 == 1, case let exponent = Int(bytes[start] & 0x0F), exponent <= 3,
        range(from: start + 1, count: 1 << exponent) != nil,
        let long = Self.number(bytes, at: start + 1, size: 1 << exponent)
      else { throw damaged("the object at byte \(offset) has no size.") }
      count = long
      start += 1 + 1 << exponent
    }
    guard count <= bytes.count / unit, range(from: start, count: count * unit) != nil else {
      throw damaged("the object at byte \(offset) is longer than the file.")
    }
    return (start, count)
  }

  private func range(from start: Int, count: Int) -> Range<Int>? {
    count <= objectEnd - start ? start..<start + count : nil
  }

  /// Reads a big-endian number; nil if it doesn't fit into an `Int`. The bytes must exist.
  private static func number(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
    Int(exactly: bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  @inline(never)
  private func damaged(_ message: String) -> PersistenceError {
    PersistenceError(.malformedFile, at: place, "The binary property list is damaged: \(message)")
  }
}
