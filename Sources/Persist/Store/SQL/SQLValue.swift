public import Foundation

/// An SQLite value.
///
/// Literals become the corresponding case: `5`, `2.5`, `"Tea"`.
public enum SQLValue: Sendable, Hashable {
  /// SQL's `NULL`.
  case null
  /// A signed 64-bit integer; SQLite also has it for Booleans.
  case integer(Int64)
  /// A 64-bit floating-point number.
  case double(Double)
  /// A UTF-8 text.
  case text(String)
  /// Bytes.
  case blob(Data)

  // The synthesized operator is inlined, with the comparison of Data, wherever values or arrays of them are compared.
  @inline(never)
  public static func == (left: SQLValue, right: SQLValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.blob(let left), .blob(let right)): left == right
    case (.null, _), (.integer, _), (.double, _), (.text, _), (.blob, _): false
    }
  }

  /// The number of an ``integer(_:)``; nil for every other value.
  public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The number of a ``double(_:)`` or an ``integer(_:)``; nil for every other value.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    case .null, .text, .blob: nil
    }
  }
  /// The text of a ``text(_:)``; nil for every other value.
  public var stringValue: String? { if case .text(let value) = self { value } else { nil } }
  /// The bytes of a ``blob(_:)``; nil for every other value.
  public var dataValue: Data? { if case .blob(let value) = self { value } else { nil } }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .text(value) }
}
