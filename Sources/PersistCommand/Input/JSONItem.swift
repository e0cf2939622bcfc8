import Foundation
import Persist

/// A JSON value of a line of a dump. Numbers are kept as they are written, because only the attribute's type decides
/// how they are read.
enum JSONItem {
  case null
  case boolean(Bool)
  case number(String)
  case string(String)
  case array([JSONItem])
  case object([(name: String, value: JSONItem)])

  /// The kind of the value, for messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a Boolean"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// Reads the JSON value of one line.
///
/// `JSONDecoder` isn't an alternative: it rounds large numbers, keeps one of two members with the same name, and takes
/// several times as long.
struct JSONItemReader {
  /// A malformed text: the words, and the index of the byte.
  struct Malformed: Error {
    let words: String
    let index: Int
  }

  private let bytes: [UInt8]
  private var index = 0
  private static let depthLimit = 64

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Throws: ``Malformed``.
  static func item(in line: [UInt8]) throws -> JSONItem {
    var reader = JSONItemReader(line)
    let item = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.index == line.count else { throw reader.malformed("Expected the end of the line.") }
    return item
  }

  private mutating func value(depth: Int) throws -> JSONItem {
    guard depth < Self.depthLimit else { throw malformed("Values are nested more than \(Self.depthLimit) deep.") }
    skipSpace()
    guard index < bytes.count else { throw malformed("Expected a value, found the end of the line.") }
    switch bytes[index] {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func object(depth: Int) throws -> JSONItem {
    var members: [(name: String, value: JSONItem)] = []
    var names: Set<String> = []
    try list(closing: UInt8(ascii: "}")) { reader in
      reader.skipSpace()
      let start = reader.index
      guard reader.index < reader.bytes.count, reader.bytes[reader.index] == UInt8(ascii: "\"") else {
        throw reader.malformed("Expected a name in quotation marks.")
      }
      let name = try reader.string()
      guard names.insert(name).inserted else {
        throw Malformed(words: "The name '\(name)' occurs twice in one object.", index: start)
      }
      reader.skipSpace()
      guard reader.index < reader.bytes.count, reader.bytes[reader.index] == UInt8(ascii: ":") else {
        throw reader.malformed("Expected ':' after the name '\(name)'.")
      }
      reader.index += 1
      members.append((name, try reader.value(depth: depth + 1)))
    }
    return .object(members)
  }

  private mutating func array(depth: Int) throws -> JSONItem {
    var items: [JSONItem] = []
    try list(closing: UInt8(ascii: "]")) { items.append(try $0.value(depth: depth + 1)) }
    return .array(items)
  }

  /// Reads what is between an opening and a closing bracket, separated by commas.
  private mutating func list(closing: UInt8, _ element: (inout JSONItemReader) throws -> Void) throws {
    index += 1
    skipSpace()
    if index < bytes.count, bytes[index] == closing {
      index += 1
      return
    }
    while true {
      try element(&self)
      skipSpace()
      guard index < bytes.count else { throw malformed("The line ends within a list or an object.") }
      index += 1
      switch bytes[index - 1] {
      case closing: return
      case UInt8(ascii: ","): continue
      default:
        index -= 1
        throw malformed("Expected ',' or '\(Character(Unicode.Scalar(closing)))'.")
      }
    }
  }

  private mutating func word(_ text: StaticString, _ item: JSONItem) throws -> JSONItem {
    let matches = text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    guard matches else { throw malformed("Expected a value.") }
    index += text.utf8CodeUnitCount
    return item
  }

  private mutating func number() throws -> JSONItem {
    let start = index
    skip("-", atMost: 1)
    let whole = skipDigits()
    let hasLeadingZero = whole > 1 && bytes[index - whole] == UInt8(ascii: "0")
    var isComplete = whole > 0 && !hasLeadingZero
    if skip(".", atMost: 1) > 0 { isComplete = skipDigits() > 0 && isComplete }
    if skip("eE", atMost: 1) > 0 {
      skip("+-", atMost: 1)
      isComplete = skipDigits() > 0 && isComplete
    }
    guard isComplete else { throw Malformed(words: "Expected a value.", index: start) }
    return .number(String(decoding: bytes[start..<index], as: UTF8.self))
  }

  /// Skips bytes that are any of the given ones.
  ///
  /// - Returns: the number of skipped bytes.
  @discardableResult
  private mutating func skip(_ wanted: String, atMost limit: Int) -> Int {
    let count = bytes[index...].prefix(limit).prefix { wanted.utf8.contains($0) }.count
    index += count
    return count
  }

  private mutating func skipDigits() -> Int { skip("0123456789", atMost: bytes.count) }

  private mutating func string() throws -> String {
    let start = index
    index += 1
    let plain = bytes[index...].prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }
    var text = Array(plain)
    index += plain.count
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      switch bytes[index] {
      case UInt8(ascii: "\\"): try appendEscape(to: &text)
      case ..<0x20: throw malformed("A control character in a text has to be escaped.")
      default:
        text.append(bytes[index])
        index += 1
      }
    }
    guard index < bytes.count else { throw Malformed(words: "The text has no end.", index: start) }
    index += 1
    guard let string = String(validating: text, as: UTF8.self) else {
      throw Malformed(words: "The text isn't UTF-8.", index: start)
    }
    return string
  }

  private mutating func appendEscape(to text: inout [UInt8]) throws {
    guard index + 1 < bytes.count else { throw malformed("The text has no end.") }
    let byte = bytes[index + 1]
    index += 2
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var units = [try unit()]
      if UTF16.isLeadSurrogate(units[0]), bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
        index += 2
        units.append(try unit())
      }
      guard let part = String(validating: units, as: UTF16.self) else {
        throw malformed("'\\u' names half a character.")
      }
      text += part.utf8
    default:
      index -= 2
      throw malformed("Unknown escape '\\\(Character(Unicode.Scalar(byte)))'.")
    }
  }

  private mutating func unit() throws -> UInt16 {
    let digits = bytes[index...].prefix(4)
    guard digits.count == 4, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw malformed("'\\u' needs four hexadecimal digits.") }
    index += 4
    return unit
  }

  private mutating func skipSpace() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  private func malformed(_ words: String) -> Malformed { Malformed(words: words, index: index) }
}
