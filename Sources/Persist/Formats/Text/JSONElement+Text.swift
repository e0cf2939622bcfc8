import Foundation

extension JSONElement {
  /// The value as JSON over several lines with sorted keys; equal values produce equal text.
  ///
  /// The text is that of `JSONEncoder` with the options `prettyPrinted`, `sortedKeys` and `withoutEscapingSlashes`,
  /// which wrote the models that stores contain: their digests identify versions. The encoder itself needs ten times
  /// as long.
  var text: String {
    var bytes: [UInt8] = []
    append(to: &bytes, depth: 0)
    bytes.append(UInt8(ascii: "\n"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(to bytes: inout [UInt8], depth: Int) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .number(let value): bytes += Self.encoded(value)
    case .decimal(let value): bytes += Self.encoded(value)
    case .string(let value): Self.append(value, to: &bytes)
    case .array(let values):
      Self.append(values, between: ("[", "]"), to: &bytes, depth: depth) { value, bytes in
        value.append(to: &bytes, depth: depth + 1)
      }
    case .object(let members):
      let sorted = members.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      Self.append(sorted, between: ("{", "}"), to: &bytes, depth: depth) { member, bytes in
        Self.append(member.key, to: &bytes)
        bytes += " : ".utf8
        member.value.append(to: &bytes, depth: depth + 1)
      }
    }
  }

  /// Appends a container, each element on a line of its own.
  private static func append<Element>(
    _ elements: [Element], between brackets: (start: String, end: String), to bytes: inout [UInt8], depth: Int,
    _ append: (Element, inout [UInt8]) -> Void
  ) {
    bytes += brackets.start.utf8
    bytes.append(UInt8(ascii: "\n"))
    var isFirst = true
    for element in elements {
      if !isFirst { bytes += ",\n".utf8 }
      isFirst = false
      appendIndentation(depth + 1, to: &bytes)
      append(element, &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    appendIndentation(depth, to: &bytes)
    bytes += brackets.end.utf8
  }

  private static func appendIndentation(_ depth: Int, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes += "\\\"".utf8
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case 0x08: bytes += "\\b".utf8
      case 0x09: bytes += "\\t".utf8
      case 0x0A: bytes += "\\n".utf8
      case 0x0C: bytes += "\\f".utf8
      case 0x0D: bytes += "\\r".utf8
      case ..<0x20:
        bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
        bytes += String(byte, radix: 16).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// The encoder's form of a number that isn't an integer.
  private static func encoded(_ number: some Encodable) -> Data {
    guard let data = try? JSONEncoder().encode(number) else {
      preconditionFailure("Every number can be encoded, because double(_:) creates only finite ones.")
    }
    return data
  }
}
