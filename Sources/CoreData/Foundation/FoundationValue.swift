import Foundation
import Persist

/// Values as Core Data hands them out: Foundation's objects, which casts turn into Swift's types.
enum FoundationValue {
  static func any(_ value: StoredValue) -> Any? {
    switch value {
    case .null: nil
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .uri(let value): URL(string: value) ?? value as Any
    case .objectID(let value): value
    case .composite(let elements): elements.compactMapValues(any)
    }
  }

  /// Replaces a value that Persist hands out.
  static func any(_ value: Any?) -> Any? {
    switch value {
    case nil: nil
    case let number as Int: NSNumber(value: number)
    case let number as Bool: NSNumber(value: number)
    case let number as Double: NSNumber(value: number)
    case let number as Decimal: NSDecimalNumber(decimal: number)
    case let number as Int64: NSNumber(value: number)
    default: value
    }
  }

  /// Replaces the members of a relationship by a set of Foundation's.
  static func collection(_ value: Any?, isOrdered: Bool) -> Any? {
    guard let members = value as? RelationshipSet<ManagedObject> else { return value }
    return isOrdered ? NSOrderedSet(array: Array(members)) : NSSet(array: Array(members))
  }
}
