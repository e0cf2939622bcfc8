public import Persist

// Integer types whose values fit into 64 signed bits. A stored value that doesn't fit into the type reads as no value.

extension StorableValue where Self: FixedWidthInteger {
  /// Creates an integer; nil if the stored value isn't one, or doesn't fit into the type.
  @inlinable public init?(stored: StoredValue) {
    guard case .integer(let value) = stored else { return nil }
    self.init(exactly: value)
  }
  /// The value as 64 signed bits, to which a wider type is clamped.
  @inlinable public var stored: StoredValue { .integer(Int64(clamping: self)) }
  /// 0, for an attribute that has neither a value nor a default.
  @inlinable public static var absent: Self { 0 }
  /// Reads an integer attribute without an intermediate `StoredValue`; nil for none, or if it doesn't fit.
  @inlinable @inline(__always)
  public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    object.integer(at: slot).flatMap { Self(exactly: $0) }
  }
}

extension Int: AttributeValue {
  /// Core Data's Integer 64. `@Attribute(type: .int16)` or `.int32` chooses another width.
  @inlinable public static var attributeType: AttributeType { .int64 }
}

extension Int8: AttributeValue {
  /// Core Data's Integer 16, the narrowest: no type has 8 bits.
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension Int16: AttributeValue {
  /// Core Data's Integer 16.
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension Int32: AttributeValue {
  /// Core Data's Integer 32.
  @inlinable public static var attributeType: AttributeType { .int32 }
}

extension Int64: AttributeValue {
  /// Core Data's Integer 64.
  @inlinable public static var attributeType: AttributeType { .int64 }
}

extension UInt8: AttributeValue {
  /// Core Data's Integer 16, whose values include all of 0 to 255.
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension UInt16: AttributeValue {
  /// Core Data's Integer 32: Integer 16 has no values above 32767.
  @inlinable public static var attributeType: AttributeType { .int32 }
}

extension UInt32: AttributeValue {
  /// Core Data's Integer 64: Integer 32 has no values above 2147483647.
  @inlinable public static var attributeType: AttributeType { .int64 }
}
