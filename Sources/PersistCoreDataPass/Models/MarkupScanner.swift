/// Reads the elements of a model file, which is a small part of XML: elements with attributes, and comments.
///
/// Persist's own reader isn't used, so that the plugin's tool doesn't compile Persist a second time.
struct MarkupScanner {
  enum Event: Equatable {
    case start(String, [String: String])
    case end(String)
  }

  struct Malformed: Error, Equatable {
    let line: Int
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the next start or end of an element; nil at the end. An empty element has both.
  static func events(of text: String) throws -> [Event] {
    var scanner = MarkupScanner(text)
    var events: [Event] = []
    while try scanner.read(&events) {}
    return events
  }

  private mutating func read(_ events: inout [Event]) throws -> Bool {
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
    guard position < bytes.count else { return false }
    if skip("<!--") { return try pass("-->") }
    if skip("<?") || skip("<!") { return try pass(">") }
    if skip("</") {
      events.append(.end(name()))
      return try pass(">")
    }
    position += 1
    let element = name()
    guard !element.isEmpty else { throw malformed }
    var attributes: [String: String] = [:]
    while true {
      skipSpaces()
      if skip("/>") {
        events += [.start(element, attributes), .end(element)]
        return true
      }
      if skip(">") {
        events.append(.start(element, attributes))
        return true
      }
      let key = name()
      skipSpaces()
      guard !key.isEmpty, skip("=") else { throw malformed }
      skipSpaces()
      attributes[key] = try value()
    }
  }

  private mutating func name() -> String {
    let start = position
    while position < bytes.count, !Self.delimiters.contains(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static let delimiters = Set(" \t\r\n=<>/\"'".utf8)

  private mutating func value() throws -> String {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") else {
      throw malformed
    }
    let quote = bytes[position]
    position += 1
    let start = position
    while position < bytes.count, bytes[position] != quote { position += 1 }
    guard position < bytes.count else { throw malformed }
    position += 1
    return Self.unescaped(String(decoding: bytes[start..<(position - 1)], as: UTF8.self))
  }

  private static func unescaped(_ text: String) -> String {
    guard text.contains("&") else { return text }
    var result = ""
    var rest = text[...]
    while let ampersand = rest.firstIndex(of: "&") {
      result += rest[..<ampersand]
      rest = rest[rest.index(after: ampersand)...]
      guard let end = rest.firstIndex(of: ";"), let character = character(named: rest[..<end]) else {
        result += "&"
        continue
      }
      result.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private static func character(named name: Substring) -> Character? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let digits = name.dropFirst()
      let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      return number.flatMap(Unicode.Scalar.init).map(Character.init)
    }
  }

  private mutating func skipSpaces() {
    while position < bytes.count, Self.spaces.contains(bytes[position]) { position += 1 }
  }

  private static let spaces = Set(" \t\r\n".utf8)

  private mutating func skip(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  /// Moves behind a text.
  private mutating func pass(_ text: StaticString) throws -> Bool {
    while position < bytes.count {
      if skip(text) { return true }
      position += 1
    }
    throw malformed
  }

  private var malformed: Malformed {
    Malformed(line: bytes.prefix(position).reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) })
  }
}
