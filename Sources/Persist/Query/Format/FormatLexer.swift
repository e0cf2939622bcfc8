import Foundation

/// Splits a format string into tokens, one at a time.
struct FormatLexer {
  let source: FormatSource
  private var position = 0
  /// Whether the last token ends an operand, so that a dot after it continues its key path.
  private var followsOperand = false

  private var scalars: [Unicode.Scalar] { source.scalars }

  init(_ source: FormatSource) { self.source = source }

  mutating func next() throws -> FormatToken {
    while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
    let start = position
    let kind = try scan(from: start)
    followsOperand = endsOperand(kind)
    return FormatToken(kind: kind, offset: start)
  }

  private func endsOperand(_ kind: FormatToken.Kind) -> Bool {
    switch kind {
    case .word(let word): !FormatWord.isOperator(word)
    case .key, .collectionOperator, .variable, .string, .number, .placeholder: true
    case .symbol(let symbol): [.rightParenthesis, .rightBracket, .rightBrace].contains(symbol)
    case .functionName, .end: false
    }
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    position + ahead < scalars.count ? scalars[position + ahead] : nil
  }

  private mutating func scan(from start: Int) throws -> FormatToken.Kind {
    guard let scalar = peek() else { return .end }
    switch scalar {
    case "\"", "'":
      return .string(try text(quotedBy: scalar))
    case "#":
      position += 1
      if let quote = peek(), quote == "\"" || quote == "'" { return .key(try text(quotedBy: quote)) }
      return .key(try name(after: "#", at: start))
    case "$":
      position += 1
      return .variable(try name(after: "$", at: start))
    case "@":
      position += 1
      return .collectionOperator("@" + (try name(after: "@", at: start)))
    case "%":
      return try placeholder()
    case "0"..."9":
      return .number(try number())
    case "." where !followsOperand && peek(1).map(FormatWord.isDigit) == true:
      return .number(try number())
    default:
      if FormatWord.isStart(scalar) { return wordOrFunction() }
      return .symbol(try symbol())
    }
  }

  // MARK: Names

  private mutating func name(after mark: String, at start: Int) throws -> String {
    guard let first = peek(), FormatWord.isStart(first) else {
      throw source.error(at: start, "Expected a name after '\(mark)'.")
    }
    return word()
  }

  private mutating func word() -> String {
    var text = String.UnicodeScalarView()
    while let scalar = peek(), FormatWord.isPart(scalar) {
      text.append(scalar)
      position += 1
    }
    return String(text)
  }

  private mutating func wordOrFunction() -> FormatToken.Kind {
    var text = word()
    guard peek() == ":", peek(1) != "=" else { return .word(text) }
    while peek() == ":", peek(1) != "=" {
      text += ":"
      position += 1
      text += word()
    }
    return .functionName(text)
  }

  private mutating func symbol() throws -> FormatToken.Symbol {
    for length in [2, 1] where position + length <= scalars.count {
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars[position..<position + length])
      if let symbol = FormatToken.Symbol(rawValue: String(text)) {
        position += length
        return symbol
      }
    }
    throw source.error(
      at: position, "A format string can't contain '\(scalars[position])' here.",
      fix: "Put strings in quotation marks.")
  }

  // MARK: Placeholders

  private mutating func placeholder() throws -> FormatToken.Kind {
    let start = position
    position += 1
    if peek() == "%" {
      position += 1
      return .symbol(.modulus)
    }
    var argument: Int?
    var digits = ""
    while let scalar = peek(), FormatWord.isDigit(scalar), digits.count < 6 {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    if peek() == "$" {
      guard let number = Int(digits), number > 0 else {
        throw source.error(at: start, "Expected the argument's number, as in '%1$@'.")
      }
      position += 1
      argument = number
    }
    // Widths, precisions and length modifiers, as in `%5.2f` and `%ld`, have no effect: arguments are values, not text.
    if peek() == "." {
      position += 1
      skipDigits()
    }
    while let scalar = peek(), "hlqLztj".unicodeScalars.contains(scalar) { position += 1 }
    guard let letter = peek(), "@KdDiuUxXoOcCfFeEgGaAsS".unicodeScalars.contains(letter) else {
      throw source.error(
        at: start, "Expected a conversion after '%': %@, %K, %d, %f or similar, or %% for the remainder.")
    }
    position += 1
    return .placeholder(Character(letter), argument: argument)
  }

  // MARK: Texts

  private mutating func text(quotedBy quote: Unicode.Scalar) throws -> String {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = peek() {
      position += 1
      if scalar == quote { return String(text) }
      if scalar == "\\" { try escape(into: &text) } else { text.append(scalar) }
    }
    throw source.error(at: start, "The string that begins here has no closing \(quote).")
  }

  /// Reads an escape sequence after its backslash. An unknown escape keeps its backslash, so that a regular expression
  /// such as `'\w+'` is taken literally.
  private mutating func escape(into text: inout String.UnicodeScalarView) throws {
    guard let scalar = peek() else { return }
    switch scalar {
    case "\\", "\"", "'": text.append(scalar)
    case "n": text.append("\n")
    case "r": text.append("\r")
    case "t": text.append("\t")
    case "u": return text.append(try codePoint(digits: 4))
    case "U": return text.append(try codePoint(digits: 8))
    default: text.append(contentsOf: ["\\", scalar])
    }
    position += 1
  }

  /// Reads `uXXXX` or `UXXXXXXXX`; a surrogate pair forms one character.
  private mutating func codePoint(digits: Int) throws -> Unicode.Scalar {
    let start = position - 1
    let first = try hexadecimal(digits, from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if 0xD800..<0xDC00 ~= first, peek() == "\\", peek(1) == "u" {
      position += 1
      let second = try hexadecimal(digits, from: start)
      if 0xDC00..<0xE000 ~= second,
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw source.error(at: start, "The escape sequence that begins here isn't a Unicode character.")
  }

  private mutating func hexadecimal(_ digits: Int, from start: Int) throws -> UInt32 {
    position += 1
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard let scalar = peek(), scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
        throw source.error(at: start, "Expected \(digits) hexadecimal digits in the escape sequence that begins here.")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  // MARK: Numbers

  private mutating func number() throws -> StoredValue {
    let start = position
    let value = try peek() == "0" ? basedNumber() ?? decimalNumber() : decimalNumber()
    if let scalar = peek(), FormatWord.isPart(scalar) {
      throw source.error(at: start, "'\(scalar)' isn't valid in the number that begins here.")
    }
    return value
  }

  /// Reads `0x1F`, `0o17` or `0b101`; nil if the number has no base prefix.
  private mutating func basedNumber() throws -> StoredValue? {
    let bases: [Unicode.Scalar: Int] = ["x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2]
    guard let mark = peek(1), let radix = bases[mark] else { return nil }
    let start = position
    position += 2
    let digits = word()
    if let value = Int64(digits, radix: radix) { return .integer(value) }
    // All bits set is a common mask, so unsigned 64-bit numbers are accepted too.
    guard let value = UInt64(digits, radix: radix) else {
      throw source.error(at: start, "Expected a number to base \(radix) of at most 64 bits.")
    }
    return .decimal(Decimal(value))
  }

  private mutating func decimalNumber() throws -> StoredValue {
    let start = position
    var isWhole = true
    skipDigits()
    if peek() == ".", let digit = peek(1), FormatWord.isDigit(digit) {
      isWhole = false
      position += 1
      skipDigits()
    }
    if peek() == "e" || peek() == "E" {
      let sign = peek(1) == "+" || peek(1) == "-" ? 1 : 0
      if let digit = peek(1 + sign), FormatWord.isDigit(digit) {
        isWhole = false
        position += 1 + sign
        skipDigits()
      }
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[start..<position])
    let text = String(view)
    if isWhole {
      if let value = Int64(text) { return .integer(value) }
      if text.count <= 38, let value = Decimal(string: text) { return .decimal(value) }
    }
    guard let value = Double(text), value.isFinite else {
      throw source.error(at: start, "The number that begins here is too large.")
    }
    return .double(value)
  }

  private mutating func skipDigits() {
    while let scalar = peek(), FormatWord.isDigit(scalar) { position += 1 }
  }
}

/// The text of a format string as scalars, and errors with positions in it.
struct FormatSource: Sendable {
  let text: String
  let scalars: [Unicode.Scalar]

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// - Parameter offset: The position of the error, in Unicode scalars from 0.
  @inline(never)
  func error(at offset: Int, _ message: String, fix: String? = nil) -> PersistenceError {
    var before = String.UnicodeScalarView()
    before.append(contentsOf: scalars.prefix(offset))
    let excerpt = text.count > 200 ? String(text.prefix(200)) + "…" : text
    return PersistenceError(
      .invalidPredicate, at: PersistenceError.Place(column: String(before).count + 1),
      "\(message) The format is: \(ValueWords.line(excerpt))", fix: fix)
  }
}
