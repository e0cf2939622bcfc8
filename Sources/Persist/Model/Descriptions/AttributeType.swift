/// The type of an attribute's values. Raw values are the names used by JSON models and the command line.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
  /// Signed integers of 16, 32 and 64 bits; values outside of the type's range are rejected.
  case int16, int32, int64
  /// Numbers with a fraction: decimals of up to 38 digits, and binary numbers of 64 and 32 bits.
  case decimal, double, float
  /// Text, truth value, point in time, bytes, UUID and URI.
  case string, boolean, date, binary, uuid, uri
  /// A value that a named transformer archives into bytes.
  case transformable
  /// Several attributes under one name; see ``CompositeDescription``.
  case composite
  /// Another object's identifier; used only in requests, never in a store.
  case objectID
  /// No type; only for transient attributes.
  case undefined

  /// The range of an integer type; the 64-bit range for any other type.
  package var integerRange: ClosedRange<Int64> {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    default: Int64.min...Int64.max
    }
  }
}

extension AttributeType {
  /// The names of a type elsewhere, and the kind of its values. A new type needs a row in ``traits``; the compiler
  /// finds the functions that have a case for each type.
  package struct Traits: Sendable {
    /// The kind of the values; nil if they can be of any kind.
    package let values: ValueKind?
    /// `NSAttributeType` in compiled models, and the default of `NSAttributeValueClassName`.
    package let archiveNumber: Int64
    package let className: String?
    /// `attributeType` in Xcode's models.
    package let xcodeName: String
    /// Whether Xcode's models contain default values of the type as text.
    package let hasTextDefault: Bool
  }

  package var traits: Traits {
    func row(
      _ values: ValueKind?, _ number: Int64, _ className: String?, xcode name: String, hasTextDefault: Bool = false
    ) -> Traits {
      Traits(
        values: values, archiveNumber: number, className: className, xcodeName: name, hasTextDefault: hasTextDefault)
    }
    return switch self {
    case .int16: row(.integer, 100, "NSNumber", xcode: "Integer 16", hasTextDefault: true)
    case .int32: row(.integer, 200, "NSNumber", xcode: "Integer 32", hasTextDefault: true)
    case .int64: row(.integer, 300, "NSNumber", xcode: "Integer 64", hasTextDefault: true)
    case .decimal: row(.decimal, 400, "NSDecimalNumber", xcode: "Decimal", hasTextDefault: true)
    case .double: row(.double, 500, "NSNumber", xcode: "Double", hasTextDefault: true)
    case .float: row(.double, 600, "NSNumber", xcode: "Float", hasTextDefault: true)
    case .string: row(.string, 700, "NSString", xcode: "String", hasTextDefault: true)
    case .boolean: row(.boolean, 800, "NSNumber", xcode: "Boolean", hasTextDefault: true)
    case .date: row(.date, 900, "NSDate", xcode: "Date")
    case .binary: row(.data, 1000, "NSData", xcode: "Binary")
    case .uuid: row(.uuid, 1100, "NSUUID", xcode: "UUID", hasTextDefault: true)
    case .uri: row(.uri, 1200, "NSURL", xcode: "URI", hasTextDefault: true)
    case .transformable: row(.data, 1800, nil, xcode: "Transformable")
    case .composite: row(.composite, 2100, "NSDictionary", xcode: "Composite")
    case .objectID: row(.objectID, 2000, "NSManagedObjectID", xcode: "Object ID")
    case .undefined: row(nil, 0, nil, xcode: "Undefined")
    }
  }

  /// Whether a value is of the kind of this type's values; true for no value. The range of an integer isn't compared.
  package func holds(_ value: StoredValue) -> Bool {
    value.isNull || traits.values.map { $0 == value.valueKind } ?? true
  }
}
