public import Foundation
public import Persist

extension Bool: AttributeValue {
  /// Core Data's Boolean: an `INTEGER` column with 0 or 1.
  @inlinable public static var attributeType: AttributeType { .boolean }
  /// Creates a Boolean; nil for any other kind of stored value, including the integers 0 and 1.
  @inlinable public init?(stored: StoredValue) {
    guard case .boolean(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.boolean(_:)`.
  @inlinable public var stored: StoredValue { .boolean(self) }
  /// False, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Bool { false }
  /// Reads a Boolean attribute without an intermediate `StoredValue`; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Bool? { object.boolean(at: slot) }
}

extension Double: AttributeValue {
  /// Core Data's Double: a `FLOAT` column, 8 bytes per value.
  @inlinable public static var attributeType: AttributeType { .double }
  /// Creates a double; nil for any other kind of stored value, including integers.
  @inlinable public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.double(_:)`.
  @inlinable public var stored: StoredValue { .double(self) }
  /// 0, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Double { 0 }
  /// Reads a double attribute without an intermediate `StoredValue`; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Double? { object.double(at: slot) }
}

extension Float: AttributeValue {
  /// Core Data's Float: a `FLOAT` column, like that of a double.
  @inlinable public static var attributeType: AttributeType { .float }
  /// Creates a float, rounded from a stored double; nil for any other kind of stored value.
  @inlinable public init?(stored: StoredValue) {
    guard case .double(let value) = stored else { return nil }
    self = Float(value)
  }
  /// The value as `StoredValue.double(_:)`, which represents every float exactly.
  @inlinable public var stored: StoredValue { .double(Double(self)) }
  /// 0, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Float { 0 }
  /// Reads a float attribute without an intermediate `StoredValue`, rounded from a double; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Float? {
    object.double(at: slot).map { Float($0) }
  }
}

extension Decimal: AttributeValue {
  /// Core Data's Decimal. The store preserves all digits, those beyond the precision of a double as text.
  @inlinable public static var attributeType: AttributeType { .decimal }
  /// Creates a decimal; nil for any other kind of stored value.
  @inlinable public init?(stored: StoredValue) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.decimal(_:)`.
  @inlinable public var stored: StoredValue { .decimal(self) }
  /// 0, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Decimal { 0 }
  /// Reads a decimal attribute; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Decimal? { object.decimal(at: slot) }
}

extension String: AttributeValue {
  /// Core Data's String: a `VARCHAR` column.
  @inlinable public static var attributeType: AttributeType { .string }
  /// Creates a string; nil for any other kind of stored value.
  @inlinable public init?(stored: StoredValue) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.string(_:)`.
  @inlinable public var stored: StoredValue { .string(self) }
  /// The empty string, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: String { "" }
  /// Reads a string attribute without an intermediate `StoredValue`; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> String? { object.string(at: slot) }
}

extension Data: AttributeValue {
  /// Core Data's Binary Data: a `BLOB` column, or a file beside the store with `externalStorage`.
  @inlinable public static var attributeType: AttributeType { .binary }
  /// Creates data; nil for any other kind of stored value.
  @inlinable public init?(stored: StoredValue) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.data(_:)`.
  @inlinable public var stored: StoredValue { .data(self) }
  /// No bytes, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Data { Data() }
  /// Reads a binary attribute, from its file if it is in one; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Data? { object.data(at: slot) }
}

extension Date: AttributeValue {
  /// Core Data's Date: a `TIMESTAMP` column with seconds since 2001.
  @inlinable public static var attributeType: AttributeType { .date }
  /// Creates a date; nil for any other kind of stored value.
  @inlinable public init?(stored: StoredValue) {
    guard case .date(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.date(_:)`.
  @inlinable public var stored: StoredValue { .date(self) }
  /// The beginning of 2001, the reference date of stores.
  @inlinable public static var absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// Reads a date attribute without an intermediate `StoredValue`; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Date? { object.date(at: slot) }
}

extension UUID: StorableValue {
  /// Core Data's UUID: a `BLOB` column with 16 bytes.
  @inlinable public static var attributeType: AttributeType { .uuid }
  /// Creates a UUID; nil for any other kind of stored value, including its text.
  @inlinable public init?(stored: StoredValue) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }
  /// The value as `StoredValue.uuid(_:)`.
  @inlinable public var stored: StoredValue { .uuid(self) }
  /// Reads a UUID attribute; nil for none.
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> UUID? { object.uuid(at: slot) }
}

extension URL: StorableValue {
  /// Core Data's URI: a `VARCHAR` column.
  @inlinable public static var attributeType: AttributeType { .uri }
  /// Creates a URL; nil if the stored value isn't a URI, or isn't one that `URL` accepts.
  @inlinable public init?(stored: StoredValue) {
    guard case .uri(let value) = stored, let url = URL(string: value) else { return nil }
    self = url
  }
  /// The text of the absolute URL; a relative one is resolved against its base.
  @inlinable public var stored: StoredValue { .uri(absoluteString) }
}
