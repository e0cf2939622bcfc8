import Foundation

/// Reads JSON without spaces, byte by byte, without copying or converting what it reads.
struct JSONScanner {
  private let bytes: [UInt8]
  private var position = 0

  /// The maximum depth of nested values.
  private static let maximumDepth = 64

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Whether bytes can be the name of a member: a text that is the same in every encoder, without escapes.
  static func isName(_ name: Data) -> Bool {
    name.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      && String(validating: name, as: UTF8.self) != nil
  }

  /// Reads a value; nil if there is none.
  ///
  /// - Parameter depth: The number of objects around it.
  mutating func part(depth: Int) -> JSONPart? {
    let start = position
    if depth < JSONPart.maximumDepth, let object = object(depth: depth) { return object }
    position = start
    guard skipValue(depth: depth) else { return nil }
    return .text(Data(bytes[start..<position]))
  }

  /// Reads an object whose names are sorted and have no escapes.
  private mutating func object(depth: Int) -> JSONPart? {
    guard skip("{") else { return nil }
    var members: [Data: JSONPart] = [:]
    if skip("}") { return .object(members) }
    var last: Data?
    repeat {
      let start = position + 1
      guard skipString() else { return nil }
      let name = Data(bytes[start..<position - 1])
      guard Self.isName(name), last.map({ $0.precedes(name) }) ?? true, skip(":"), let value = part(depth: depth + 1)
      else { return nil }
      members[name] = value
      last = name
    } while skip(",")
    return skip("}") ? .object(members) : nil
  }

  // MARK: Values without members

  private mutating func skip(_ character: Character) -> Bool {
    guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func skip(word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func skipValue(depth: Int) -> Bool {
    guard position < bytes.count, depth < Self.maximumDepth else { return false }
    switch bytes[position] {
    case UInt8(ascii: "\""): return skipString()
    case UInt8(ascii: "{"): return skipAll(depth, "{", "}", areNamed: true)
    case UInt8(ascii: "["): return skipAll(depth, "[", "]", areNamed: false)
    case UInt8(ascii: "t"): return skip(word: "true")
    case UInt8(ascii: "f"): return skip(word: "false")
    case UInt8(ascii: "n"): return skip(word: "null")
    default: return skipNumber()
    }
  }

  /// Skips the elements of an array or the members of an object.
  private mutating func skipAll(
    _ depth: Int, _ opening: Character, _ closing: Character, areNamed: Bool
  ) -> Bool {
    guard skip(opening) else { return false }
    if skip(closing) { return true }
    repeat {
      if areNamed { guard skipString(), skip(":") else { return false } }
      guard skipValue(depth: depth + 1) else { return false }
    } while skip(",")
    return skip(closing)
  }

  private mutating func skipString() -> Bool {
    guard skip("\"") else { return false }
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        guard String(validating: bytes[start..<position], as: UTF8.self) != nil else { return false }
        position += 1
        return true
      case UInt8(ascii: "\\"):
        position += 1
        guard skipEscape() else { return false }
      case ..<0x20: return false
      default: position += 1
      }
    }
    return false
  }

  private mutating func skipEscape() -> Bool {
    guard position < bytes.count else { return false }
    defer { position += 1 }
    switch bytes[position] {
    case UInt8(ascii: "u"):
      let digits = bytes[(position + 1)...].prefix(4)
      position += digits.count
      return digits.count == 4 && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    case let byte: return "\"\\/bfnrt".utf8.contains(byte)
    }
  }

  private mutating func skipDigits() -> Bool {
    let start = position
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) { position += 1 }
    return position > start
  }

  private mutating func skipNumber() -> Bool {
    _ = skip("-")
    if !skip("0") { guard skipDigits() else { return false } }
    if skip(".") { guard skipDigits() else { return false } }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      guard skipDigits() else { return false }
    }
    return true
  }
}
