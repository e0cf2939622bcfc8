public import Foundation

/// A property list as a value, as in a store's metadata and Apple's model archives.
public enum PropertyList: Sendable, Hashable {
  case boolean(Bool)
  case integer(Int64)
  /// A whole number above `Int64.max`; smaller ones are ``integer(_:)``.
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case array([PropertyList])
  case dictionary([String: PropertyList])
  /// A reference to another object of a keyed archive.
  case uid(UInt64)
  /// The null object, which occurs in a few binary property lists.
  case null
}

extension PropertyList {
  public subscript(key: String) -> PropertyList? {
    if case .dictionary(let entries) = self { entries[key] } else { nil }
  }

  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  public var arrayValue: [PropertyList]? { if case .array(let value) = self { value } else { nil } }
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

  public var booleanValue: Bool? { integerValue.map { $0 != 0 } }

  public var doubleValue: Double? {
    switch self {
    case .real(let value): value
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    default: nil
    }
  }
}
