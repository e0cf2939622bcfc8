import Foundation

/// Reads property lists in their XML form, which old stores and hand-written files have.
///
/// A reader of its own instead of an XML parser: the form is small, nothing in it may refer to anything outside, and
/// entities can't be declared, so there is nothing to expand. It walks without recursion.
struct XMLPropertyListReader {
  private let bytes: [UInt8]
  private let place: PersistError.Place
  private var position = 0

  /// A container that isn't closed yet. Changed in place: an enumeration with payloads would copy them for each element.
  private struct Open {
    let isArray: Bool
    var elements: [PropertyList] = []
    var entries: [String: PropertyList] = [:]
    /// The key whose value comes next.
    var key: String?
  }

  private enum Tag: Equatable {
    case opening(String)
    case empty(String)
    case closing(String)
  }

  /// Whether data looks like XML in UTF-8.
  static func recognises(_ bytes: [UInt8]) -> Bool {
    let text = bytes.prefix(256).drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || isSpace($0) }
    return text.starts(with: "<?xml".utf8) || text.starts(with: "<plist".utf8) || text.starts(with: "<!".utf8)
  }

  init(_ bytes: [UInt8], place: PersistError.Place) throws {
    self.bytes = bytes
    self.place = place
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    guard !bytes.contains(0), String(bytes: bytes, encoding: .utf8) != nil else { throw damaged("it isn't UTF-8.") }
  }

  mutating func read() throws -> PropertyList {
    try skipProlog()
    guard try nextTag() == .opening("plist") else { throw damaged("'<plist>' was expected.") }
    let value = try readValue()
    guard try nextTag() == .closing("plist") else { throw damaged("'</plist>' was expected.") }
    skipSpace()
    guard position == bytes.count else { throw damaged("there is something behind '</plist>'.") }
    return value
  }

  private mutating func readValue() throws -> PropertyList {
    var open: [Open] = []
    while true {
      let finished: PropertyList
      switch try nextTag() {
      case .opening(let name) where name == "array" || name == "dict":
        open.append(Open(isArray: name == "array"))
        try checkDepth(open.count)
        continue
      case .opening("key"), .empty("key"):
        try readKey(into: &open)
        continue
      case .closing(let name):
        guard let container = open.popLast(), name == (container.isArray ? "array" : "dict"), container.key == nil else {
          throw damaged("'</\(name)>' isn't expected here.")
        }
        finished = container.isArray ? .array(container.elements) : .dictionary(container.entries)
      case .empty("array"): finished = .array([])
      case .empty("dict"): finished = .dictionary([:])
      case .empty(let name): finished = try scalar(name, text: "")
      case .opening(let name): finished = try scalar(name, text: try text(until: name))
      }
      guard !open.isEmpty else { return finished }
      try add(finished, to: &open[open.count - 1])
    }
  }

  private mutating func readKey(into open: inout [Open]) throws {
    let isEmpty = bytes[position - 2] == UInt8(ascii: "/")
    let key = isEmpty ? "" : try text(until: "key")
    guard let container = open.last, !container.isArray, container.key == nil else {
      throw damaged("the key '\(key)' isn't expected here.")
    }
    open[open.count - 1].key = key
  }

  private func add(_ value: PropertyList, to container: inout Open) throws {
    guard !container.isArray else { return container.elements.append(value) }
    guard let key = container.key else { throw damaged("a dictionary has a value without a key.") }
    guard container.entries.updateValue(value, forKey: key) == nil else {
      throw damaged("the key '\(key)' stands twice in a dictionary.")
    }
    container.key = nil
  }

  private func scalar(_ name: String, text: String) throws -> PropertyList {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch name {
    case "string": return .string(text)
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "integer":
      if let value = Int64(trimmed) { return .integer(value) }
      if let value = UInt64(trimmed) { return .unsigned(value) }
      if trimmed.hasPrefix("0x"), let value = Int64(trimmed.dropFirst(2), radix: 16) { return .integer(value) }
    case "real": if let value = Double(trimmed) { return .real(value) }
    case "date":
      if let date = try? Date.ISO8601FormatStyle().parse(trimmed) { return .date(date) }
    case "data":
      // Longer texts stand in lines.
      let base64 = text.utf8.filter { !Self.isSpace($0) }
      if let data = Data(base64Encoded: Data(base64)) { return .data(data) }
    default: throw damaged("a property list has no '<\(name)>'.")
    }
    throw damaged("'\(trimmed.prefix(60))' isn't a value for '<\(name)>'.")
  }

  private func checkDepth(_ depth: Int) throws {
    guard depth > PropertyList.Limits.depth else { return }
    throw PersistError(
      .limitExceeded, at: placeHere, "The property list nests deeper than \(PropertyList.Limits.depth) levels.")
  }
}

extension XMLPropertyListReader {
  /// Skips the XML declaration, comments and Apple's document type. Any other document type is refused.
  private mutating func skipProlog() throws {
    skipSpace()
    if matches("<?xml") { try skip(through: "?>") }
    while true {
      try skipSpaceAndComments()
      guard matches("<!DOCTYPE") else { return }
      let start = position
      try skip(through: ">")
      // An internal subset begins with '['; only there could entities be declared.
      guard !bytes[start..<position].contains(UInt8(ascii: "[")) else {
        throw PersistError(
          .malformedFile, at: placeHere, "The property list declares a document type of its own, which isn't read.",
          fix: "Use Apple's plain document type, or none.")
      }
    }
  }

  private mutating func nextTag() throws -> Tag {
    try skipSpaceAndComments()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "<") else { throw damaged("a tag was expected.") }
    position += 1
    let isClosing = position < bytes.count && bytes[position] == UInt8(ascii: "/")
    if isClosing { position += 1 }
    let start = position
    while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
    let name = String(decoding: bytes[start..<position], as: UTF8.self)
    guard !name.isEmpty else { throw damaged("a tag has no name.") }
    let attributes = position
    try skip(through: ">")
    let isEmpty = bytes[position - 2] == UInt8(ascii: "/") && position - 2 >= attributes
    return isClosing ? .closing(name) : isEmpty ? .empty(name) : .opening(name)
  }

  /// The text up to the closing tag, references and CDATA sections resolved.
  private mutating func text(until name: String) throws -> String {
    var result: [UInt8] = []
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "<"):
        if matches("<![CDATA[") {
          let start = position + "<![CDATA[".utf8.count
          try skip(through: "]]>")
          result += bytes[start..<position - 3]
        } else if matches("<!--") {
          try skip(through: "-->")
        } else {
          guard try nextTag() == .closing(name) else { throw damaged("'</\(name)>' was expected.") }
          return String(decoding: result, as: UTF8.self)
        }
      case UInt8(ascii: "&"):
        let start = position + 1
        try skip(through: ";")
        result += try character(named: String(decoding: bytes[start..<position - 1], as: UTF8.self)).utf8
      case let byte:
        result.append(byte)
        position += 1
      }
    }
    throw damaged("'</\(name)>' is missing.")
  }

  private func character(named name: String) throws -> String {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let code = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16)
        : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
      guard let scalar = code.flatMap(Unicode.Scalar.init) else {
        throw damaged("'&\(name.prefix(20));' isn't a character.")
      }
      return String(Character(scalar))
    }
  }

  private mutating func skipSpaceAndComments() throws {
    while true {
      skipSpace()
      guard matches("<!--") else { return }
      try skip(through: "-->")
    }
  }

  private mutating func skipSpace() {
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
  }

  private func matches(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[position...].starts(with: $0) }
  }

  private mutating func skip(through text: String) throws {
    let end = Array(text.utf8)
    while position + end.count <= bytes.count {
      if bytes[position..<position + end.count].elementsEqual(end) {
        position += end.count
        return
      }
      position += 1
    }
    throw damaged("'\(text)' is missing.")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  private var placeHere: PersistError.Place {
    var place = place
    place.line = 1 + bytes[..<min(position, bytes.count)].reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
    return place
  }

  private func damaged(_ message: String) -> PersistError {
    PersistError(.malformedFile, at: placeHere, "The XML property list is damaged: \(message)")
  }
}
