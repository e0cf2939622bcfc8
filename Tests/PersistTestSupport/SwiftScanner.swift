/// Splits Swift text into tokens. Supports just enough: nested comments, raw and multiline strings, interpolations.
struct SwiftScanner {
  private let characters: [UInt8]
  private var position = 0
  private var line = 1
  private var tokens: [SwiftSource.Token] = []

  init(_ text: String) { characters = Array(text.utf8) }

  mutating func scan() -> [SwiftSource.Token] {
    scan(untilClosingParenthesis: false)
    return tokens
  }

  private func peek(_ ahead: Int = 0) -> UInt8 {
    position + ahead < characters.count ? characters[position + ahead] : 0
  }

  private mutating func advance() {
    if peek() == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private mutating func scan(untilClosingParenthesis inInterpolation: Bool) {
    var depth = 0
    while position < characters.count {
      let byte = peek()
      if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
        while position < characters.count, peek() != UInt8(ascii: "\n") { advance() }
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        skipBlockComment()
      } else if byte == UInt8(ascii: "\"") {
        scanLiteral(hashes: 0)
      } else if byte == UInt8(ascii: "#"), let hashes = hashesBeforeQuote() {
        for _ in 0..<hashes { advance() }
        scanLiteral(hashes: hashes)
      } else if isIdentifierStart(byte) {
        scanIdentifier()
      } else {
        if inInterpolation {
          if byte == UInt8(ascii: "(") { depth += 1 }
          if byte == UInt8(ascii: ")") {
            if depth == 0 { return }
            depth -= 1
          }
        }
        if byte > 32 {
          tokens.append(.init(kind: .punctuation, text: String(UnicodeScalar(byte)), line: line))
        }
        advance()
      }
    }
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        depth += 1
        position += 2
      } else if peek() == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
        depth -= 1
        position += 2
      } else {
        advance()
      }
    } while depth > 0 && position < characters.count
  }

  private func hashesBeforeQuote() -> Int? {
    var count = 0
    while peek(count) == UInt8(ascii: "#") { count += 1 }
    return peek(count) == UInt8(ascii: "\"") ? count : nil
  }

  private func isIdentifierStart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")) || byte >= 0x80
  }

  private mutating func scanIdentifier() {
    let start = position
    while isIdentifierStart(peek()) || (peek() >= UInt8(ascii: "0") && peek() <= UInt8(ascii: "9")) { position += 1 }
    let text = String(decoding: characters[start..<position], as: UTF8.self)
    tokens.append(.init(kind: .identifier, text: text, line: line))
  }

  private mutating func scanLiteral(hashes: Int) {
    let startLine = line
    let quotes = peek(1) == UInt8(ascii: "\"") && peek(2) == UInt8(ascii: "\"") ? 3 : 1
    position += quotes
    var text: [UInt8] = []
    while position < characters.count {
      if isRun(of: UInt8(ascii: "\""), count: quotes, at: 0), isRun(of: UInt8(ascii: "#"), count: hashes, at: quotes) {
        position += quotes + hashes
        break
      }
      if peek() == UInt8(ascii: "\\"), isRun(of: UInt8(ascii: "#"), count: hashes, at: 1) {
        position += 1 + hashes
        if peek() == UInt8(ascii: "(") {
          position += 1
          scan(untilClosingParenthesis: true)
          text.append(UInt8(ascii: " "))
        }
        advance()
        continue
      }
      text.append(peek())
      advance()
    }
    tokens.append(.init(kind: .literal, text: String(decoding: text, as: UTF8.self), line: startLine))
  }

  private func isRun(of byte: UInt8, count: Int, at start: Int) -> Bool {
    (0..<count).allSatisfy { peek(start + $0) == byte }
  }
}
