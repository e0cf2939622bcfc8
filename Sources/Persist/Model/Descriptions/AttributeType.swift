/// The type of an attribute's values. Raw values are the names that models in JSON and the command line use.
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
  case int16, int32, int64
  case decimal, double, float
  case string, boolean, date, binary, uuid, uri
  /// A value that a named transformer archives into bytes.
  case transformable
  /// Several attributes under one name; see ``CompositeDescription``.
  case composite
  /// Another object's identifier; only in requests, never in a store.
  case objectID
  /// No type; only for transient attributes.
  case undefined

  /// The numbers that an integer type has; all of 64 bits for any other type.
  var integerRange: ClosedRange<Int64> {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    default: Int64.min...Int64.max
    }
  }
}
