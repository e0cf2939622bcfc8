import Foundation

/// Reads JSON in bounded time and memory. Two members of one name are an error, as are comments and trailing commas.
///
/// - SeeAlso: <https://www.rfc-editor.org/rfc/rfc8259>
struct JSONReader {
  static let byteLimit = 64 << 20
  private static let depthLimit = 64
  private static let valueLimit = 2_000_000

  /// - Parameter url: the file that errors name.
  /// - Throws: ``PersistError/Code/malformedFile`` with line and column, ``PersistError/Code/limitExceeded``.
  static func value(in data: Data, from url: URL? = nil) throws -> JSONValue {
    guard data.count <= byteLimit else {
      throw PersistError(
        .limitExceeded, at: PersistError.Place(file: url), "The text has more than \(byteLimit) bytes.")
    }
    guard String(data: data, encoding: .utf8) != nil else {
      throw PersistError(.malformedFile, at: PersistError.Place(file: url), "The file isn't UTF-8 text.")
    }
    var reader = JSONReader(bytes: [UInt8](data), url: url)
    let value = try reader.value(depth: 0)
    reader.passSpace()
    guard reader.position == reader.bytes.count else { throw reader.malformed("Something follows the value.") }
    return value
  }

  private let bytes: [UInt8]
  private let url: URL?
  private var position = 0
  private var values = 0

  private init(bytes: [UInt8], url: URL?) {
    self.bytes = bytes
    self.url = url
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.depthLimit else {
      throw PersistError(.limitExceeded, at: place, "Values are nested more than \(Self.depthLimit) deep.")
    }
    values += 1
    guard values <= Self.valueLimit else {
      throw PersistError(.limitExceeded, at: place, "The file has more than \(Self.valueLimit) values.")
    }
    passSpace()
    switch peek() {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
    default:
      if skip("true") { return .boolean(true) }
      if skip("false") { return .boolean(false) }
      if skip("null") { return .null }
      throw malformed("Expected a value.")
    }
  }

  private mutating func object(depth: Int) throws -> JSONValue {
    var members: [JSONValue.Member] = []
    var keys: Set<String> = []
    position += 1
    passSpace()
    if skip("}") { return .object([]) }
    while true {
      passSpace()
      guard peek() == UInt8(ascii: "\"") else { throw malformed("Expected a key in quotes.") }
      let key = try string()
      guard keys.insert(key).inserted else { throw malformed("The key '\(key)' stands twice in one object.") }
      passSpace()
      guard skip(":") else { throw malformed("Expected ':' after the key '\(key)'.") }
      members.append(JSONValue.Member(key, try value(depth: depth + 1)))
      passSpace()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw malformed("Expected ',' or '}'.") }
    }
  }

  private mutating func array(depth: Int) throws -> JSONValue {
    var values: [JSONValue] = []
    position += 1
    passSpace()
    if skip("]") { return .array([]) }
    while true {
      values.append(try value(depth: depth + 1))
      passSpace()
      if skip("]") { return .array(values) }
      guard skip(",") else { throw malformed("Expected ',' or ']'.") }
    }
  }

  private mutating func number() throws -> String {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func digits() throws {
    let start = position
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw malformed("Expected a digit.") }
  }

  private mutating func string() throws -> String {
    var result: [UInt8] = []
    position += 1
    while let byte = peek() {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
      case UInt8(ascii: "\\"): result.append(contentsOf: try escape().utf8)
      case 0..<0x20: throw malformed("A control character (\(byte)) stands in a text.")
      default: result.append(byte)
      }
    }
    throw malformed("A text doesn't end.")
  }

  private mutating func escape() throws -> String {
    guard let byte = peek() else { throw malformed("A text doesn't end.") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let first = try codeUnit()
      if let scalar = Unicode.Scalar(first) { return String(Character(scalar)) }
      guard (0xD800..<0xDC00).contains(first), skip("\\u") else { throw malformed("Half a surrogate pair.") }
      let second = try codeUnit()
      guard (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      else { throw malformed("Half a surrogate pair.") }
      return String(Character(scalar))
    default: throw malformed("Unknown escape in a text.")
    }
  }

  private mutating func codeUnit() throws -> UInt32 {
    guard position + 4 <= bytes.count else { throw malformed("Expected four hexadecimal digits.") }
    let text = String(decoding: bytes[position..<position + 4], as: UTF8.self)
    guard text.utf8.count == 4, text.allSatisfy(\.isHexDigit), let unit = UInt32(text, radix: 16) else {
      throw malformed("Expected four hexadecimal digits.")
    }
    position += 4
    return unit
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  private mutating func passSpace() {
    while let byte = peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private var place: PersistError.Place {
    let before = bytes[..<min(position, bytes.count)]
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return PersistError.Place(file: url, line: line, column: before.count - lineStart + 1)
  }

  private func malformed(_ message: String) -> PersistError {
    PersistError(.malformedFile, at: place, message)
  }
}
