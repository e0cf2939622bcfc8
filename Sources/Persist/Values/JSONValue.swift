/// JSON as a value: numbers as their text, so that none loses a digit, and objects in the order of their members.
enum JSONValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  /// A number's text as it stands in the file.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  struct Member: Sendable, Hashable {
    let key: String
    let value: JSONValue

    init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// What a message calls the value.
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

  /// A number that reads back to the same value; a text where it isn't finite.
  static func double(_ value: Double) -> JSONValue {
    guard value.isFinite else { return .string(String(value)) }
    // 5.0 as 5: other writers of JSON do so too, and it reads back as well.
    let text = String(value)
    return .number(text.hasSuffix(".0") && value != 0 ? String(text.dropLast(2)) : text)
  }
}

extension JSONValue {
  /// The value on one line.
  var text: String {
    switch self {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .number(let text): text
    case .string(let text): Self.quoted(text)
    case .array(let values): "[" + values.map(\.text).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.key) + ": " + $0.value.text }.joined(separator: ", ") + "}"
    }
  }

  /// The value over several lines: what fits into 100 columns on one, anything else with a line for each part.
  ///
  /// The text is a function of the value alone.
  var readableText: String {
    var result = ""
    write(indent: "", used: 0, to: &result)
    return result + "\n"
  }

  private func write(indent: String, used: Int, to result: inout String) {
    let line = text
    guard indent.utf8.count + used + line.utf8.count > 100 else {
      result += line
      return
    }
    let inner = indent + "  "
    switch self {
    case .array(let values) where !values.isEmpty:
      result += "["
      for (index, value) in values.enumerated() {
        result += (index == 0 ? "\n" : ",\n") + inner
        value.write(indent: inner, used: 1, to: &result)
      }
      result += "\n\(indent)]"
    case .object(let members) where !members.isEmpty:
      result += "{"
      for (index, member) in members.enumerated() {
        let key = Self.quoted(member.key) + ": "
        result += (index == 0 ? "\n" : ",\n") + inner + key
        member.value.write(indent: inner, used: key.utf8.count + 1, to: &result)
      }
      result += "\n\(indent)}"
    default: result += line
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
