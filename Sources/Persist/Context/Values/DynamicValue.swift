import Foundation

/// Stored values as programs see them that don't name a type, and the shortest way back.
///
/// | attribute type | given |
/// |---|---|
/// | `int16 int32 int64` | `Int`, or `Int64` where `Int` is too small |
/// | `boolean` | `Bool` |
/// | `double float` | `Double` |
/// | `decimal` | `Decimal` |
/// | `string` | `String` |
/// | `date` | `Date` |
/// | `binary transformable` | `Data` |
/// | `uuid` | `UUID` |
/// | `uri` | `URL`, or `String` where `URL` refuses the text |
/// | `composite` | `[String: Any]` |
/// | `undefined` | by the value |
///
/// ``ValueConversion`` says what is taken.
enum DynamicValue {
  static func any(_ value: StoredValue) -> Any? {
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

  /// The stored form of what nearly every program gives: nothing, or exactly the Swift type of the attribute's type;
  /// nil for all else, which ``ValueConversion`` looks at. Neither the attribute nor a place for errors is needed.
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
    default: nil
    }
  }

  /// The type is compared first: a cast that fails looks for ways between the types.
  private static func exactly<T>(_ value: Any, _ wanted: T.Type) -> T? {
    type(of: value) == wanted ? value as? T : nil
  }
}
