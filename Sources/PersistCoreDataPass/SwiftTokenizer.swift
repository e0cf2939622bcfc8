/// Divides a Swift source into tokens: strings of every kind with their interpolations, nested comments, regular
/// expressions and conditional compilation included.
struct SwiftTokenizer {
  private let bytes: [UInt8]
  private var position = 0
  private var tokens: [SwiftToken] = []

  private init(_ source: String) { bytes = Array(source.utf8) }

  static func tokens(of source: String) -> [SwiftToken] {
    var tokenizer = SwiftTokenizer(source)
    tokenizer.readCode()
    return tokenizer.tokens
  }

  private func byte(_ offset: Int = 0) -> UInt8? {
    bytes.indices.contains(position + offset) ? bytes[position + offset] : nil
  }

  private mutating func add(_ kind: SwiftToken.Kind, from start: Int) {
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    tokens.append(SwiftToken(kind: kind, range: start..<position, text: text))
  }

  /// Reads code up to the end.
  ///
  /// An interpolation's strings contain further interpolations, so the open ones are kept on a stack instead of the
  /// call stack.
  private mutating func readCode() {
    var open: [Interpolation] = []
    while let next = byte() {
      let start = position
      switch next {
      case UInt8(ascii: "\n"):
        position += 1
        add(.newline, from: start)
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
        while let next = byte(), next != UInt8(ascii: "\n") { position += 1 }
        add(.comment, from: start)
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): readBlockComment()
      case UInt8(ascii: "/") where startsRegularExpression: readRegularExpression(poundCount: 0)
      case UInt8(ascii: "\""): readString(poundCount: 0, &open)
      case UInt8(ascii: "#"):
        let count = poundCount
        if byte(count) == UInt8(ascii: "\"") {
          position += count
          readString(poundCount: count, from: start, &open)
        } else if byte(count) == UInt8(ascii: "/") {
          position += count
          readRegularExpression(poundCount: count, from: start)
        } else {
          position += 1
          add(.punctuation, from: start)
        }
      case UInt8(ascii: "`"):
        position += 1
        while let next = byte(), next != UInt8(ascii: "`"), next != UInt8(ascii: "\n") { position += 1 }
        if byte() == UInt8(ascii: "`") { position += 1 }
        add(.identifier, from: start)
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        while let next = byte(), Self.isWord(next) { position += 1 }
        add(.number, from: start)
      case _ where Self.isWord(next):
        while let next = byte(), Self.isWord(next) { position += 1 }
        add(.identifier, from: start)
      case UInt8(ascii: "("):
        position += 1
        if !open.isEmpty { open[open.count - 1].depth += 1 }
        add(.punctuation, from: start)
      case UInt8(ascii: ")"):
        position += 1
        add(.punctuation, from: start)
        guard var last = open.popLast() else { continue }
        last.depth -= 1
        if last.depth == 0 { readText(last.string, from: position, &open) } else { open.append(last) }
      default:
        position += 1
        add(.punctuation, from: start)
      }
    }
  }

  private struct StringForm {
    let poundCount: Int
    let isMultiline: Bool
  }

  private struct Interpolation {
    let string: StringForm
    var depth: Int
  }

  private var poundCount: Int {
    var count = 0
    while byte(count) == UInt8(ascii: "#") { count += 1 }
    return count
  }

  private mutating func readString(poundCount: Int, from start: Int? = nil, _ open: inout [Interpolation]) {
    let start = start ?? position
    let isMultiline = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"")
    position += isMultiline ? 3 : 1
    readText(StringForm(poundCount: poundCount, isMultiline: isMultiline), from: start, &open)
  }

  /// Reads a string up to its end or to its next interpolation.
  private mutating func readText(_ form: StringForm, from start: Int, _ open: inout [Interpolation]) {
    while let next = byte() {
      if next == UInt8(ascii: "\\"), hasPounds(form.poundCount, at: 1) {
        position += 1 + form.poundCount
        if byte() == UInt8(ascii: "(") {
          add(.text, from: start)
          let parenthesis = position
          position += 1
          add(.punctuation, from: parenthesis)
          open.append(Interpolation(string: form, depth: 1))
          return
        }
        if byte() != nil { position += 1 }
        continue
      }
      if next == UInt8(ascii: "\n"), !form.isMultiline { break }
      if next == UInt8(ascii: "\""), isEnd(form) {
        position += (form.isMultiline ? 3 : 1) + form.poundCount
        break
      }
      position += 1
    }
    add(.text, from: start)
  }

  private func isEnd(_ form: StringForm) -> Bool {
    guard form.isMultiline else { return hasPounds(form.poundCount, at: 1) }
    return byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"") && hasPounds(form.poundCount, at: 3)
  }

  private func hasPounds(_ count: Int, at offset: Int) -> Bool {
    (0..<count).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") }
  }

  private mutating func readBlockComment() {
    let start = position
    var depth = 0
    repeat {
      if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
        depth += 1
        position += 2
      } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        depth -= 1
        position += 2
      } else {
        position += 1
      }
    } while depth > 0 && position < bytes.count
    position = min(position, bytes.count)
    add(.comment, from: start)
  }

  /// Whether a slash begins a regular expression: where an operand is expected, if the line has its end.
  private var startsRegularExpression: Bool {
    guard let next = byte(1), next != UInt8(ascii: " "), next != UInt8(ascii: "\t"), next != UInt8(ascii: "\n"),
      expectsOperand
    else { return false }
    var offset = 1
    while let next = byte(offset), next != UInt8(ascii: "\n") {
      if next == UInt8(ascii: "\\") { offset += 1 } else if next == UInt8(ascii: "/") { return true }
      offset += 1
    }
    return false
  }

  private var expectsOperand: Bool {
    guard let last = tokens.last(where: { $0.kind != .comment && $0.kind != .newline }) else { return false }
    switch last.kind {
    case .punctuation: return ["(", ",", "=", ":", "[", "{", ";", "!", "&", "|", "?"].contains(last.text)
    case .identifier: return ["return", "in", "case", "where", "if", "guard", "while"].contains(last.text)
    default: return false
    }
  }

  private mutating func readRegularExpression(poundCount: Int, from start: Int? = nil) {
    let start = start ?? position
    position += 1
    while let next = byte() {
      if next == UInt8(ascii: "\\") {
        position += 2
        continue
      }
      if next == UInt8(ascii: "\n"), poundCount == 0 { break }
      position += 1
      if next == UInt8(ascii: "/"), hasPounds(poundCount, at: 0) {
        position += poundCount
        break
      }
    }
    position = min(position, bytes.count)
    add(.text, from: start)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
