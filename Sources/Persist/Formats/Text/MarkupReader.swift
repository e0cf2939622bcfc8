package import Foundation

/// Reads the subset of XML that Xcode writes into ``MarkupElement``s, in bounded time and memory.
///
/// Nothing outside the file is ever read. A document type that only names a file, as in mapping models, is skipped; one
/// that declares anything is rejected, as is every entity other than XML's five predefined ones. Elements may nest up
/// to ``Limits/depth`` levels.
///
/// Foundation's `XMLParser` is no substitute: on Linux the process crashes if a processing instruction is empty, as in
/// `<?p?>` (a null pointer treated as a string, swift-corelibs-foundation 6.3), `parse()` returns true for truncated
/// files, and declared entities are neither reported nor expanded.
package struct MarkupReader {
  /// The limits of a file's size and content.
  package struct Limits {
    let bytes: Int
    let depth: Int
    /// The number of elements and attributes combined.
    let pieces: Int

    package init(bytes: Int = 32 << 20, depth: Int = 64, pieces: Int = 1_000_000) {
      (self.bytes, self.depth, self.pieces) = (bytes, depth, pieces)
    }
  }

  /// Returns the root element of a file.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess``, ``PersistenceError/Code/malformedFile`` with file and line,
  ///   ``PersistenceError/Code/limitExceeded``.
  package static func root(of url: URL, limits: Limits = Limits()) throws -> MarkupElement {
    try root(in: BoundedFile.data(at: url, limit: limits.bytes), from: url, limits: limits)
  }

  /// - Parameter url: the file to name in errors.
  package static func root(in data: Data, from url: URL?, limits: Limits = Limits()) throws -> MarkupElement {
    guard data.count <= limits.bytes else {
      throw PersistenceError(
        .limitExceeded, at: PersistenceError.Place(file: url),
        "The file has \(data.count) bytes; at most \(limits.bytes) are read.")
    }
    guard String(data: data, encoding: .utf8) != nil else {
      throw PersistenceError(
        .malformedFile, at: PersistenceError.Place(file: url), "The file isn't UTF-8 text.",
        fix: "Open the model in Xcode and save it again.")
    }
    var reader = MarkupReader(bytes: [UInt8](data), url: url, limits: limits)
    return try reader.document()
  }

  private let bytes: [UInt8]
  private let url: URL?
  private let limits: Limits
  private var position = 0
  private var line = 1
  private var pieces = 0

  private init(bytes: [UInt8], url: URL?, limits: Limits) {
    self.bytes = bytes
    self.url = url
    self.limits = limits
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  // MARK: The document

  /// Reads the document. Open elements are kept on an explicit stack, so that nesting doesn't use the call stack.
  private mutating func document() throws -> MarkupElement {
    var open: [MarkupElement] = []
    var root: MarkupElement?
    func close(_ element: MarkupElement) {
      if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
    while let byte = peek() {
      if byte != UInt8(ascii: "<") {
        let text = try characters(until: UInt8(ascii: "<"), isAttribute: false)
        if open.isEmpty {
          guard text.allSatisfy(\.isWhitespace) else { throw malformed("There is text outside the root element.") }
        } else {
          open[open.count - 1].text += text
        }
      } else if skip("<?") {
        _ = try raw(until: "?>", of: "a processing instruction")
      } else if skip("<!--") {
        _ = try raw(until: "-->", of: "a comment")
      } else if skip("<![CDATA[") {
        let text = try raw(until: "]]>", of: "a CDATA section")
        guard !open.isEmpty else { throw malformed("There is text outside the root element.") }
        open[open.count - 1].text += text
      } else if skip("<!DOCTYPE") {
        guard open.isEmpty, root == nil else { throw malformed("A document type is inside the document.") }
        try passDocumentType()
      } else if skip("</") {
        let name = try self.name()
        skipSpace()
        guard skip(">") else { throw malformed("Expected '>' after '</\(name)'.") }
        guard let element = open.popLast(), element.name == name else {
          throw malformed("'</\(name)>' closes an element that isn't open.")
        }
        close(element)
      } else {
        guard root == nil else { throw malformed("A second root element begins.") }
        let (element, isEmpty) = try startTag()
        if isEmpty {
          close(element)
        } else {
          guard open.count < limits.depth else {
            throw PersistenceError(
              .limitExceeded, at: place, "Elements are nested more than \(limits.depth) deep.")
          }
          open.append(element)
        }
      }
    }
    if let element = open.last {
      throw malformed("The file ends inside <\(element.name)>, which begins in line \(element.line).")
    }
    guard let root else { throw malformed("The file has no root element.") }
    return root
  }

  private mutating func startTag() throws -> (element: MarkupElement, isEmpty: Bool) {
    let start = line
    position += 1
    let name = try self.name()
    try count()
    var attributes: [String: String] = Dictionary()
    while true {
      let hadSpace = skipSpace()
      if skip("/>") { return (MarkupElement(name: name, attributes: attributes, line: start), true) }
      if skip(">") { return (MarkupElement(name: name, attributes: attributes, line: start), false) }
      guard hadSpace else { throw malformed("Expected a space, '>' or '/>' in <\(name)>.") }
      let key = try self.name()
      try count()
      skipSpace()
      guard skip("=") else { throw malformed("Expected '=' after '\(key)' in <\(name)>.") }
      skipSpace()
      guard let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        throw malformed("Expected a quoted value for '\(key)' in <\(name)>.")
      }
      position += 1
      let value = try characters(until: quote, isAttribute: true)
      guard peek() == quote else { throw malformed("The value of '\(key)' in <\(name)> isn't terminated.") }
      position += 1
      // Most elements have at most six attributes.
      if attributes.isEmpty { attributes.reserveCapacity(6) }
      guard attributes.updateValue(value, forKey: key) == nil else {
        throw malformed("<\(name)> has two attributes '\(key)'.")
      }
    }
  }

  /// Skips a document type that names a file and declares nothing.
  private mutating func passDocumentType() throws {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: ">"):
        position += 1
        return
      case UInt8(ascii: "["), UInt8(ascii: "<"):
        throw malformed(
          "The document type declares entities or elements.", fix: "Remove the declarations; no model needs them.")
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        position += 1
        while let next = peek(), next != byte { advance() }
        guard peek() == byte else { throw malformed("The document type isn't terminated.") }
        position += 1
      default: advance()
      }
    }
    throw malformed("The document type isn't terminated.")
  }

  // MARK: Text

  /// Reads text up to but not including a byte, or to the end of the file, and resolves references.
  private mutating func characters(until end: UInt8, isAttribute: Bool) throws -> String {
    let start = position
    while let byte = peek(), byte != end, byte >= 0x20, byte != UInt8(ascii: "&"), byte != UInt8(ascii: "<") {
      position += 1
    }
    // Nearly every text is as it is written.
    if peek() == end { return String(decoding: bytes[start..<position], as: UTF8.self) }
    var result = Array(bytes[start..<position])
    while let byte = peek(), byte != end {
      switch byte {
      case UInt8(ascii: "&"): result.append(contentsOf: try reference().utf8)
      case UInt8(ascii: "<"): throw malformed("An attribute's value contains '<'.")
      case UInt8(ascii: "\r"):
        advance()
        if peek() != UInt8(ascii: "\n") { result.append(UInt8(ascii: isAttribute ? " " : "\n")) }
      case UInt8(ascii: "\n"), UInt8(ascii: "\t"):
        result.append(isAttribute ? UInt8(ascii: " ") : byte)
        advance()
      case 0..<0x20: throw malformed("A control character (\(byte)) is in the text.")
      default:
        result.append(byte)
        position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private mutating func reference() throws -> String {
    let start = position + 1
    var end = start
    while end < bytes.count, end - start < 12, bytes[end] != UInt8(ascii: ";") { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else {
      throw malformed("'&' begins no reference.", fix: "Write '&amp;' for the character itself.")
    }
    let name = String(decoding: bytes[start..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    let number: UInt32?
    if name.hasPrefix("#x") {
      number = UInt32(name.dropFirst(2), radix: 16)
    } else if name.hasPrefix("#") {
      number = UInt32(name.dropFirst())
    } else {
      throw malformed(
        "'&\(name);' isn't a predefined entity of XML; no others are supported.", fix: "Write the text itself.")
    }
    guard let number, number != 0, let scalar = Unicode.Scalar(number) else {
      throw malformed("'&\(name);' is no character.")
    }
    return String(Character(scalar))
  }

  private mutating func raw(until end: String, of what: String) throws -> String {
    let start = position
    while position < bytes.count {
      if matches(end) {
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        position += end.utf8.count
        return text
      }
      advance()
    }
    throw malformed("The file ends inside \(what).")
  }

  private mutating func name() throws -> String {
    let start = position
    while let byte = peek(), Self.isNameByte(byte, first: position == start) { position += 1 }
    guard position > start else { throw malformed("Expected a name.") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: ":"), 0x80...:
      true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
    default: false
    }
  }

  // MARK: Bytes

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func advance() {
    if bytes[position] == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private func matches(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private mutating func skip(_ text: String) -> Bool {
    guard matches(text) else { return false }
    position += text.utf8.count
    return true
  }

  @discardableResult
  private mutating func skipSpace() -> Bool {
    let start = position
    while let byte = peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
    return position > start
  }

  private mutating func count() throws {
    pieces += 1
    guard pieces <= limits.pieces else {
      throw PersistenceError(
        .limitExceeded, at: place, "The file has more than \(limits.pieces) elements and attributes.")
    }
  }

  private var place: PersistenceError.Place { PersistenceError.Place(file: url, line: line) }

  @inline(never)
  private func malformed(_ message: String, fix: String? = nil) -> PersistenceError {
    PersistenceError(.malformedFile, at: place, message, fix: fix)
  }
}
