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
}
