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
