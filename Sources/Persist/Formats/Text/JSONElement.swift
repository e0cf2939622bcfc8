package import Foundation

/// A JSON value, the intermediate form between a model's descriptions and JSON's text.
package enum JSONElement: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A number that isn't an ``integer(_:)``.
  case number(Double)
  /// A number with more digits than a double can hold.
  case decimal(Decimal)
  case string(String)
  case array([JSONElement])
  case object([String: JSONElement])

  // The synthesized operator is inlined, with the comparison of decimals, wherever values or collections are compared.
  @inline(never)
  package static func == (left: JSONElement, right: JSONElement) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.decimal(let left), .decimal(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.null, _), (.boolean, _), (.integer, _), (.number, _), (.decimal, _), (.string, _), (.array, _),
      (.object, _):
      false
    }
  }

  /// The name of the value's kind, for messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "a Boolean"
    case .integer, .number, .decimal: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// Returns a number that reads back to the same value, or a string if the value isn't finite.
  static func double(_ value: Double) -> JSONElement {
    guard value.isFinite else { return .string(String(value)) }
    // An integer can't represent negative zero.
    if let integer = Int64(exactly: value), integer != 0 || value.sign == .plus { return .integer(integer) }
    return .number(value)
  }
}

extension JSONElement: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    /// Returns nil if the value has another type; errors from inside the value propagate to the caller.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
      do { return try container.decode(type) } catch DecodingError.typeMismatch { return nil }
    }
    if container.decodeNil() {
      self = .null
    } else if let text = try value(String.self) {
      self = .string(text)
    } else if let members = try value([String: JSONElement].self) {
      self = .object(members)
    } else if let flag = try value(Bool.self) {
      self = .boolean(flag)
    } else if let values = try value([JSONElement].self) {
      self = .array(values)
    } else {
      self = try Self.number(in: container)
    }
  }

  private static func number(in container: any SingleValueDecodingContainer) throws -> JSONElement {
    let number = try container.decode(Double.self)
    if abs(number) < 0x1p53, let integer = Int64(exactly: number) {
      if integer == 0, number.sign == .minus { return .number(number) }
      // A double may be whole only because it was rounded.
      if let exact = try? container.decode(Int64.self), exact == integer, isExact(number, in: container) {
        return .integer(integer)
      }
    }
    guard let decimal = try? container.decode(Decimal.self), !decimal.isNaN else { return .number(number) }
    if let integer = Int64(exactly: decimal) { return .integer(integer) }
    return DecimalText(decimal.description) == DecimalText(number.description) ? .number(number) : .decimal(decimal)
  }

  private static func isExact(_ number: Double, in container: any SingleValueDecodingContainer) -> Bool {
    guard let decimal = try? container.decode(Decimal.self) else { return true }
    return Int64(exactly: decimal) != nil
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .decimal(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}
