public import Foundation
public import Persist

extension Bool: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .boolean }
  @inlinable public init?(stored: StoredValue) {
    guard case .boolean(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .boolean(self) }
  @inlinable public static var absent: Bool { false }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Bool? { object.boolean(at: slot) }
}

extension Double: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .double }
  @inlinable public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .double(self) }
  @inlinable public static var absent: Double { 0 }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Double? { object.double(at: slot) }
}

extension Float: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .float }
  @inlinable public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = Float(value)
  }
  @inlinable public var stored: StoredValue { .double(Double(self)) }
  @inlinable public static var absent: Float { 0 }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Float? {
    object.double(at: slot).map { Float($0) }
  }
}

extension Decimal: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .decimal }
  @inlinable public init?(stored: StoredValue) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .decimal(self) }
  @inlinable public static var absent: Decimal { 0 }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Decimal? { object.decimal(at: slot) }
}

extension String: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .string }
  @inlinable public init?(stored: StoredValue) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .string(self) }
  @inlinable public static var absent: String { "" }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> String? { object.string(at: slot) }
}

extension Data: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .binary }
  @inlinable public init?(stored: StoredValue) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .data(self) }
  @inlinable public static var absent: Data { Data() }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Data? { object.data(at: slot) }
}

extension Date: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .date }
  @inlinable public init?(stored: StoredValue) {
    guard case .date(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .date(self) }
  /// The beginning of 2001, the reference date of stores.
  @inlinable public static var absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Date? { object.date(at: slot) }
}

extension UUID: StorableValue {
  @inlinable public static var attributeType: AttributeType { .uuid }
  @inlinable public init?(stored: StoredValue) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }
  @inlinable public var stored: StoredValue { .uuid(self) }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> UUID? { object.uuid(at: slot) }
}

extension URL: StorableValue {
  @inlinable public static var attributeType: AttributeType { .uri }
  @inlinable public init?(stored: StoredValue) {
    guard case .uri(let value) = stored, let url = URL(string: value) else { return nil }
    self = url
  }
  @inlinable public var stored: StoredValue { .uri(absoluteString) }
}
