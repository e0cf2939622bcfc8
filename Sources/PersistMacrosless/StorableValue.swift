public import Foundation
public import Persist

/// A Swift type whose values an attribute can hold.
public protocol StorableValue {
  /// The value that a stored one stands for; nil where it isn't of this type, or doesn't fit into it.
  init?(stored: StoredValue)
  var stored: StoredValue { get }
}

/// A type for a property with ``Attribute``: one that can be stored and says what it is where there is no value.
///
/// A property of an optional type is nil where there is no value. One of another type has ``absent`` then, so that
/// reading it never stops a program.
public protocol AttributeValue: StorableValue {
  static var absent: Self { get }
}

extension Bool: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .boolean(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .boolean(self) }
  public static var absent: Bool { false }
}

extension StorableValue where Self: FixedWidthInteger {
  public init?(stored: StoredValue) {
    guard case .integer(let value) = stored else { return nil }
    self.init(exactly: value)
  }
  public var stored: StoredValue { .integer(Int64(clamping: self)) }
  public static var absent: Self { 0 }
}

extension Int: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}

extension Double: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .double(self) }
  public static var absent: Double { 0 }
}

extension Float: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = Float(value)
  }
  public var stored: StoredValue { .double(Double(self)) }
  public static var absent: Float { 0 }
}

extension Decimal: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .decimal(self) }
  public static var absent: Decimal { 0 }
}

extension String: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .string(self) }
  public static var absent: String { "" }
}

extension Data: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .data(self) }
  public static var absent: Data { Data() }
}

extension Date: AttributeValue {
  public init?(stored: StoredValue) {
    guard case .date(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .date(self) }
  /// The beginning of 2001, from which stores count.
  public static var absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

/// There is no identifier or address that could stand for none: properties of these types are optional.
extension UUID: StorableValue {
  public init?(stored: StoredValue) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }
  public var stored: StoredValue { .uuid(self) }
}

extension URL: StorableValue {
  public init?(stored: StoredValue) {
    guard case .uri(let text) = stored, let url = URL(string: text) else { return nil }
    self = url
  }
  public var stored: StoredValue { .uri(absoluteString) }
}

extension Optional: StorableValue where Wrapped: StorableValue {
  public init?(stored: StoredValue) {
    self = Wrapped(stored: stored)
  }
  public var stored: StoredValue { self?.stored ?? .null }
}

extension Optional: AttributeValue where Wrapped: StorableValue {
  public static var absent: Wrapped? { nil }
}
