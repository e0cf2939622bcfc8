import Foundation

/// Conversion of stored values to the Swift and Foundation types that a program requests.
extension ValueConversion {
  /// Converts a stored value to a type; nil if that type has no equal value.
  ///
  /// | type | accepts |
  /// |---|---|
  /// | integers, `Bool`, `Double`, `Float`, `Decimal` | numbers that an attribute of that type accepts |
  /// | `NSNumber`, `NSDecimalNumber` | numbers and Booleans |
  /// | `String`, `Date`, `Data`, `UUID`, `URL` and their Foundation classes | values of that type |
  /// | ``StoredValue`` | every value |
  package static func value<Wanted>(_ stored: StoredValue, as type: Wanted.Type) -> Wanted? {
    if type == StoredValue.self { return stored as? Wanted }
    if let integer = type as? any FixedWidthInteger.Type { return whole(stored, as: integer) as? Wanted }
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(Bool.self):
      if case .boolean(let flag)? = converted(stored, to: .boolean) { return flag as? Wanted }
    case ObjectIdentifier(Double.self):
      if case .double(let number)? = converted(stored, to: .double) { return number as? Wanted }
    case ObjectIdentifier(Float.self):
      if case .double(let number)? = converted(stored, to: .float) { return Float(number) as? Wanted }
    case ObjectIdentifier(Decimal.self):
      if case .decimal(let number)? = converted(stored, to: .decimal) { return number as? Wanted }
    case ObjectIdentifier(NSDecimalNumber.self):
      if case .decimal(let number)? = converted(stored, to: .decimal) {
        return NSDecimalNumber(decimal: number) as? Wanted
      }
    case ObjectIdentifier(NSNumber.self): return number(stored) as? Wanted
    case ObjectIdentifier(String.self), ObjectIdentifier(NSString.self):
      guard case .string(let text) = stored else { return nil }
      return type == String.self ? text as? Wanted : NSString(string: text) as? Wanted
    case ObjectIdentifier(Date.self), ObjectIdentifier(NSDate.self):
      guard case .date(let date) = stored else { return nil }
      return type == Date.self ? date as? Wanted : date as NSDate as? Wanted
    case ObjectIdentifier(Data.self), ObjectIdentifier(NSData.self):
      guard case .data(let data) = stored else { return nil }
      return type == Data.self ? data as? Wanted : data as NSData as? Wanted
    case ObjectIdentifier(UUID.self), ObjectIdentifier(NSUUID.self):
      guard case .uuid(let uuid) = stored else { return nil }
      return type == UUID.self ? uuid as? Wanted : uuid as NSUUID as? Wanted
    case ObjectIdentifier(URL.self), ObjectIdentifier(NSURL.self):
      guard case .uri(let text) = stored, let url = URL(string: text) else { return nil }
      return type == URL.self ? url as? Wanted : url as NSURL as? Wanted
    case ObjectIdentifier(ManagedObjectID.self):
      if case .objectID(let id) = stored { return id as? Wanted }
    default: break
    }
    return nil
  }

  private static func converted(_ value: StoredValue, to type: AttributeType) -> StoredValue? {
    try? ValueConversion(AttributeDescription("value", type), at: .unknown).converted(.value(value))
  }

  private static func whole(_ value: StoredValue, as type: any FixedWidthInteger.Type) -> Any? {
    guard case .integer(let number)? = converted(value, to: .int64) else { return nil }
    return exactly(number, type)
  }

  private static func exactly<Integer: FixedWidthInteger>(_ number: Int64, _ type: Integer.Type) -> Any? {
    Integer(exactly: number)
  }

  private static func number(_ value: StoredValue) -> NSNumber? {
    switch value {
    case .boolean(let flag): NSNumber(value: flag)
    case .integer(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .decimal(let number): NSDecimalNumber(decimal: number)
    default: nil
    }
  }
}
