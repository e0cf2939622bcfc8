import Foundation

/// Writes a predicate or an expression as a format string that parses to the same tree.
struct FormatPrinter {
  private(set) var text = ""

  mutating func write(_ predicate: FetchPredicate, within precedence: FormatPrecedence = .or) {
    switch predicate {
    case .constant(let value): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): write(comparison)
    case .and(let parts): write(parts, joinedBy: " AND ", .and, ofNone: "TRUEPREDICATE", within: precedence)
    case .or(let parts): write(parts, joinedBy: " OR ", .or, ofNone: "FALSEPREDICATE", within: precedence)
    case .not(let part):
      text += "NOT "
      write(part, within: .not)
    }
  }

  private mutating func write(
    _ parts: [FetchPredicate], joinedBy word: String, _ own: FormatPrecedence, ofNone none: String,
    within precedence: FormatPrecedence
  ) {
    guard parts.count != 1 else { return write(parts[0], within: precedence) }
    guard !parts.isEmpty else { return text += none }
    parenthesized(own < precedence) { printer in
      for (index, part) in parts.enumerated() {
        if index > 0 { printer.text += word }
        // NSPredicate parenthesizes every compound part, including AND within OR.
        printer.write(part, within: .not)
      }
    }
  }

  private mutating func write(_ comparison: FetchPredicate.Comparison) {
    if comparison.modifier != .direct { text += comparison.modifier.rawValue + " " }
    write(comparison.left)
    text += " " + comparison.operation.rawValue
    if !comparison.options.isEmpty {
      let letters = FetchPredicate.Options.letters.filter { comparison.options.contains($0.option) }.map(\.letter)
      text += "[" + String(letters) + "]"
    }
    text += " "
    write(comparison.right)
  }

  mutating func write(_ expression: FetchExpression, within precedence: FormatPrecedence = .set) {
    switch expression {
    case .constant(let value): write(value, within: precedence)
    case .current: text += "SELF"
    case .variable(let name): text += "$" + name
    case .path(let root, let keys): write(root, keys: keys)
    case .keyPath(let root, let reference):
      if root != .current { write(root, within: .primary) }
      text += "\(reference)"
    case .element(let list, let position):
      write(list, within: .primary)
      write(position)
    case .aggregate(let parts): write(parts, open: "{", close: "}")
    case .function(let function, let arguments): write(function, arguments, within: precedence)
    case .call(let target, let selector, let arguments):
      write([target, .constant(.string(selector))] + arguments, open: "FUNCTION(", close: ")")
    case .subquery(let collection, let variable, let predicate):
      text += "SUBQUERY("
      write(collection)
      text += ", $\(variable), "
      write(predicate)
      text += ")"
    case .ternary(let predicate, let first, let second):
      text += "TERNARY("
      write(predicate)
      write([first, second], open: ", ", close: ")")
    case .fetch(let request, let context, let countOnly):
      write([request, context, .constant(.boolean(countOnly))], open: "FETCH(", close: ")")
    }
  }

  private mutating func write(_ parts: [FetchExpression], open: String, close: String) {
    text += open
    for (index, part) in parts.enumerated() {
      if index > 0 { text += ", " }
      write(part)
    }
    text += close
  }

  private mutating func write(_ position: FetchExpression.Position) {
    switch position {
    case .first: text += "[FIRST]"
    case .last: text += "[LAST]"
    case .size: text += "[SIZE]"
    case .index(let index):
      text += "["
      // A single key named like a position must not be parsed as that position.
      if let keys = index.keys, keys.count == 1 {
        writeKey(keys[0], marked: true)
      } else {
        write(index)
      }
      text += "]"
    }
  }

  private mutating func write(
    _ function: FetchFunction, _ arguments: [FetchExpression], within precedence: FormatPrecedence
  ) {
    let isInfix = arguments.count == 2 || arguments.count > 2 && function.isChained
    if isInfix, let notation = FormatInfix.notations[function] {
      let own = notation.precedence
      // Without parentheses, a sum within a sum would be parsed as one sum.
      let isNested = function.isChained && arguments[0].isFunction(function)
      let left = function == .power || isNested ? own.next : own
      let right = function == .power ? own : own.next
      parenthesized(own < precedence) { printer in
        printer.write(arguments[0], within: left)
        for argument in arguments.dropFirst() {
          printer.text += " \(notation.symbol) "
          printer.write(argument, within: right)
        }
      }
    } else if function == .negate || function == .onesComplement, arguments.count == 1 {
      parenthesized(.unary < precedence) { printer in
        printer.text += function == .negate ? "-" : "~"
        // A number right after the sign would be parsed as a negative number.
        if arguments[0].beginsWithConstant {
          printer.parenthesized(true) { $0.write(arguments[0]) }
        } else {
          printer.write(arguments[0], within: .unary)
        }
      }
    } else if function == .cast, arguments.count == 2, arguments.castsToKnownType {
      write(arguments, open: "CAST(", close: ")")
    } else {
      write(arguments, open: function.rawValue + "(", close: ")")
    }
  }

  // MARK: Keys

  private mutating func write(_ root: FetchExpression, keys: [String]) {
    if root != .current || keys.isEmpty { write(root, within: .primary) }
    for (index, key) in keys.enumerated() {
      if root != .current || index > 0 { text += "." }
      writeKey(key)
    }
  }

  /// - Parameter marked: Whether to mark the key with `#` even if it isn't a keyword.
  private mutating func writeKey(_ key: String, marked: Bool = false) {
    if CollectionOperator(rawValue: key) != nil {
      text += key
    } else if !FormatWord.isPlain(key) {
      text += "#"
      write(.string(key), within: .set)
    } else {
      text += FormatWord.isReserved(key) || marked ? "#" + key : key
    }
  }

  // MARK: Constants

  private mutating func write(_ value: StoredValue, within precedence: FormatPrecedence) {
    switch value {
    case .null: text += "nil"
    case .boolean(let value): text += value ? "YES" : "NO"
    case .integer(let value): parenthesized(value < 0 && precedence > .unary) { $0.text += String(value) }
    case .double(let value): writeDouble(value, within: precedence)
    case .decimal(let value): writeCast("\(value)", .decimal)
    case .string(let value): writeText(value)
    case .date(let value):
      text += "CAST("
      writeDouble(value.timeIntervalSinceReferenceDate, within: .set)
      text += ", \"\(CastType.date.rawValue)\")"
    case .data(let value): writeCast(value.base64EncodedString(), .data)
    case .uuid(let value): writeCast(value.uuidString, .uuid)
    case .uri(let value): writeCast(value, .url)
    case .objectID(let value): writeCast(value.current.description, .objectID)
    case .composite(let elements):
      let parts = elements.sorted(on: \.key).flatMap { element in
        [FetchExpression.constant(.string(element.key)), .constant(element.value)]
      }
      write([.aggregate(parts), .constant(.string(CastType.composite.rawValue))], open: "CAST(", close: ")")
    }
  }

  private mutating func writeDouble(_ value: Double, within precedence: FormatPrecedence) {
    if value.isFinite {
      parenthesized(value.sign == .minus && precedence > .unary) { $0.text += "\(value)" }
    } else {
      writeCast(value.isNaN ? "nan" : value < 0 ? "-infinity" : "infinity", .number)
    }
  }

  private mutating func writeCast(_ literal: String, _ type: CastType) {
    text += "CAST("
    writeText(literal)
    text += ", \"\(type.rawValue)\")"
  }

  private mutating func writeText(_ value: String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.isInterpreted:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private mutating func parenthesized(_ isNeeded: Bool, _ write: (inout FormatPrinter) -> Void) {
    if isNeeded { text += "(" }
    write(&self)
    if isNeeded { text += ")" }
  }
}

extension FetchExpression {
  /// Whether the printed expression begins with a constant, as `5` and `5[0]` do, that would absorb a preceding sign.
  /// `-5 ** 2` is parsed as the negated power.
  fileprivate var beginsWithConstant: Bool {
    switch self {
    case .constant: true
    case .element(let root, _), .path(let root, _): root.beginsWithConstant
    case .function(.power, let parts):
      if case .constant? = parts.first { false } else { parts.first?.beginsWithConstant ?? false }
    default: false
    }
  }
}

extension [FetchExpression] {
  /// Whether a cast parses back as a function: not as a constant, and to a known type.
  fileprivate var castsToKnownType: Bool {
    guard case .constant(.string(let name)) = self[1], let type = CastType(className: name) else { return false }
    return self[0].literal(of: type) == nil
  }
}
