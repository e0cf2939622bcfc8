public import Foundation

/// A property list as a value, as in a store's metadata and Apple's model archives.
public enum PropertyList: Sendable, Hashable {
  /// A Boolean, distinct from the numbers 0 and 1.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above `Int64.max`; smaller ones are ``integer(_:)``.
  case unsigned(UInt64)
  /// A floating-point number.
  case real(Double)
  /// A Unicode text.
  case string(String)
  /// A date, absolute and without a time zone.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A list of property lists.
  case array([PropertyList])
  /// Property lists by key, in no order.
  case dictionary([String: PropertyList])
  /// A reference to another object of a keyed archive.
  case uid(UInt64)
  /// The null object, which occurs in a few binary property lists.
  case null
}

extension PropertyList {
  // The synthesized operator is inlined, with the comparison of Data, wherever values or collections are compared.
  @inline(never)
  public static func == (left: PropertyList, right: PropertyList) -> Bool {
    switch (left, right) {
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    case (.uid(let left), .uid(let right)): left == right
    case (.null, .null): true
    case (.boolean, _), (.integer, _), (.unsigned, _), (.real, _), (.string, _), (.date, _), (.data, _), (.array, _),
      (.dictionary, _), (.uid, _), (.null, _):
      false
    }
  }

  /// The entry of a dictionary with a key; nil if there is none or the value isn't a dictionary.
  public subscript(key: String) -> PropertyList? {
    if case .dictionary(let entries) = self { entries[key] } else { nil }
  }

  /// The text of a ``string(_:)``; nil for every other value.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes of a ``data(_:)``; nil for every other value.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  /// The elements of an ``array(_:)``; nil for every other value.
  public var arrayValue: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
  /// The entries of a ``dictionary(_:)``; nil for every other value.
  public var dictionaryValue: [String: PropertyList]? { if case .dictionary(let value) = self { value } else { nil } }

  /// The value of a whole number, a Boolean, or a real number without a fraction.
  public var integerValue: Int64? {
    switch self {
    case .integer(let value): value
    case .boolean(let value): value ? 1 : 0
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The value of a Boolean, or whether a number without a fraction differs from 0; nil for every other value.
  public var booleanValue: Bool? { integerValue.map { $0 != 0 } }

  /// The value of a real or whole number; nil for every other value, including Booleans.
  public var doubleValue: Double? {
    switch self {
    case .real(let value): value
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    default: nil
    }
  }
}
