public import Persist

// Integer types whose values fit into 64 signed bits. A stored value that doesn't fit into the type reads as no value.

extension StorableValue where Self: FixedWidthInteger {
  @inlinable public init?(stored: StoredValue) {
    guard case .integer(let value) = stored else { return nil }
    self.init(exactly: value)
  }
  @inlinable public var stored: StoredValue { .integer(Int64(clamping: self)) }
  @inlinable public static var absent: Self { 0 }
  @inlinable public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    object.integer(at: slot).flatMap { Self(exactly: $0) }
  }
}

extension Int: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int64 }
}

extension Int8: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension Int16: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension Int32: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int32 }
}

extension Int64: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int64 }
}

extension UInt8: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int16 }
}

extension UInt16: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int32 }
}

extension UInt32: AttributeValue {
  @inlinable public static var attributeType: AttributeType { .int64 }
}
