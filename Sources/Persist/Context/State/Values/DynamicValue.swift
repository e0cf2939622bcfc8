import Foundation

/// Converts stored values to untyped Swift values, with a fast path for the reverse.
///
/// | attribute type | value |
/// |---|---|
/// | `int16 int32 int64` | `Int`, or `Int64` if `Int` is too small |
/// | `boolean` | `Bool` |
/// | `double float` | `Double` |
/// | `decimal` | `Decimal` |
/// | `string` | `String` |
/// | `date` | `Date` |
/// | `binary transformable` | `Data` |
/// | `uuid` | `UUID` |
/// | `uri` | `URL`, or `String` if it isn't a valid `URL` |
/// | `composite` | `[String: Any]` |
/// | `undefined` | depends on the value |
///
/// ``ValueConversion`` defines the accepted values.
package enum DynamicValue {
  package static func any(_ value: StoredValue) -> Any? {
    switch value {
    case .null: nil
    case .boolean(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .uri(let value): URL(string: value) ?? value
    case .objectID(let value): value
    case .composite(let elements): elements.compactMapValues(any)
    }
  }

  /// Returns the stored form of the most common inputs: nil, or exactly the Swift type of the attribute's type. Returns
  /// nil for all others, which ``ValueConversion`` handles. Needs neither the attribute nor a place for errors.
  static func stored(_ value: Any?, as type: AttributeType) -> StoredValue? {
    guard let value else { return .null }
    return switch type {
    case .boolean: exactly(value, Bool.self).map(StoredValue.boolean)
    case .int16: exactly(value, Int.self).flatMap(Int16.init(exactly:)).map { .integer(Int64($0)) }
    case .int32: exactly(value, Int.self).flatMap(Int32.init(exactly:)).map { .integer(Int64($0)) }
    case .int64: exactly(value, Int.self).map { .integer(Int64($0)) }
    case .double: exactly(value, Double.self).map(StoredValue.double)
    case .string: exactly(value, String.self).map(StoredValue.string)
    case .date: exactly(value, Date.self).map(StoredValue.date)
    case .binary: exactly(value, Data.self).map(StoredValue.data)
    case .uuid: exactly(value, UUID.self).map(StoredValue.uuid)
    case .float, .decimal, .uri, .transformable, .composite, .objectID, .undefined: nil
    }
  }

  /// Compares the types instead of casting: a failing cast searches for conversions between them, and one that succeeds
  /// takes twice as long.
  private static func exactly<Value, T>(_ value: Value, _ wanted: T.Type) -> T? {
    // The types are the same.
    Value.self == T.self ? unsafeBitCast(value, to: T.self) : nil
  }
}
