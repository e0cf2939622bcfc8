public import Foundation
import Persist

// The functions that generated accessors call. Those of common types are in another file.
extension NSManagedObject {
  /// Returns the value of a property as the type that the class declares.
  ///
  /// Stops the program if the value can't be converted to the type, as a wrong declaration does on Apple's platforms.
  @_disfavoredOverload
  public final func managedValue<Value>(_ key: ManagedKey) -> Value { convertedValue(key) }

  /// Sets a property to a value of the type that the class declares.
  @_disfavoredOverload
  public final func setManagedValue(_ value: Any?, _ key: ManagedKey) { setManagedAny(value, key.name) }

  final func convertedValue<Value>(_ key: ManagedKey) -> Value {
    ManagedValue.value(managedAny(key.name), of: key.name, in: self)
  }

  /// Adds members, for generated methods such as `addToItems(_:)`.
  public final func addManaged(_ members: Any, to key: String) {
    edit(key) { set in for object in ManagedValue.objects(in: members) { set.insert(object) } }
  }

  /// Removes members, for generated methods such as `removeFromItems(_:)`.
  public final func removeManaged(_ members: Any, from key: String) {
    edit(key) { set in for object in ManagedValue.objects(in: members) { set.remove(object) } }
  }

  /// Inserts members, for generated methods such as `insertIntoItems(_:at:)`.
  public final func insertManaged(_ members: Any, into key: String, at index: Int) {
    edit(key) { set in
      for (place, object) in ManagedValue.objects(in: members).enumerated() { set.insert(object, at: index + place) }
    }
  }

  /// Inserts members, for generated methods such as `insertIntoItems(_:at:)`.
  public final func insertManaged(_ members: Any, into key: String, at indexes: NSIndexSet) {
    edit(key) { set in
      for (index, object) in zip(indexes, ManagedValue.objects(in: members)) { set.insert(object, at: index) }
    }
  }

  /// Removes members, for generated methods such as `removeFromItems(_:)`.
  public final func removeManaged(at index: Int, from key: String) { edit(key) { $0.remove(at: index) } }

  /// Removes members, for generated methods such as `removeFromItems(_:)`.
  public final func removeManaged(at indexes: NSIndexSet, from key: String) {
    edit(key) { set in for index in indexes.reversed() { set.remove(at: index) } }
  }

  /// Replaces members, for generated methods such as `replaceItems(at:with:)`.
  public final func replaceManaged(at index: Int, in key: String, with object: NSManagedObject) {
    edit(key) { $0.replace(at: index, with: object) }
  }

  /// Replaces members, for generated methods such as `replaceItems(at:with:)`.
  public final func replaceManaged(at indexes: NSIndexSet, in key: String, with members: Any) {
    edit(key) { set in
      for (index, object) in zip(indexes, ManagedValue.objects(in: members)) { set.replace(at: index, with: object) }
    }
  }

  private func edit(_ key: String, _ body: (RelationshipSet<ManagedObject>) -> Void) {
    withParents {
      do { body(try plain.related(relationshipKey(key))) } catch { stop("\(error)") }
    }
  }
}

extension NSManagedObject {
  /// The name of a relationship, whose first letter a method such as `addToURLs(_:)` doesn't tell.
  private func relationshipKey(_ key: String) -> String {
    let entity = plain.entity
    guard entity.property(named: key) == nil else { return key }
    let first = key.prefix(1)
    let other = (first.uppercased() == first ? first.lowercased() : first.uppercased()) + key.dropFirst()
    return entity.property(named: other) == nil ? key : other
  }

  /// The property of a primitive accessor such as `primitiveName`, which Core Data generates for each property; nil for
  /// other names.
  private func primitiveKey(_ key: String) -> String? {
    guard key.hasPrefix("primitive"), key.count > 9 else { return nil }
    let name = relationshipKey(String(key.dropFirst(9)))
    return plain.entity.property(named: name) == nil ? nil : name
  }

  /// The value of a property as Core Data hands it out.
  final func managedAny(_ key: String) -> Any? {
    guard let property = plain.entity.property(named: key) else {
      return primitiveKey(key).map { primitiveValue(forKey: $0) } ?? value(forUndefinedKey: key)
    }
    // Values of attributes come from their slots without a second lookup; only transformers need more.
    if let attribute = property.attribute, attribute.type != .transformable {
      let slot = property.slot
      return FoundationValue.any(
        plain.hasParentContext
          ? withParents { plain.attributeValue(at: slot) } : plain.attributeValue(at: slot))
    }
    return withParents {
      if let relationship = property.relationship, relationship.isToMany {
        let members = (plain[key] as? RelationshipSet<ManagedObject>).map { Array($0) } ?? []
        return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
      }
      return FoundationValue.any(plain[key])
    }
  }

  final func setManagedAny(_ value: Any?, _ key: String) {
    guard plain.entity.property(named: key) != nil else {
      if let key = primitiveKey(key) { return setPrimitiveValue(value, forKey: key) }
      return setValue(value, forUndefinedKey: key)
    }
    withParents { plain[key] = ManagedValue.persist(value) }
  }
}

/// Conversions between the types of `@NSManaged` properties and the values of Persist.
enum ManagedValue {
  static func value<Value>(_ value: Any?, of key: String, in object: NSManagedObject) -> Value {
    if let value = value as? Value { return value }
    if let type = Value.self as? any ManagedConvertible.Type, let value = type.converted(value) as? Value {
      return value
    }
    if let type = Value.self as? any RawRepresentable.Type, let value = raw(value, type) as? Value { return value }
    stop(
      "'\(object.entity.name ?? "").\(key)' is \(value.map { "a \(type(of: $0))" } ?? "nil"), which isn't a value of "
        + "\(Value.self).")
  }

  private static func raw<Value: RawRepresentable>(_ value: Any?, _ type: Value.Type) -> Any? {
    let raw = value as? Value.RawValue ?? (Value.RawValue.self as? any ManagedConvertible.Type)?.converted(value)
      as? Value.RawValue
    return raw.flatMap(Value.init(rawValue:))
  }

  /// Replaces values that Persist doesn't take.
  static func persist(_ value: Any?) -> Any? {
    switch value {
    case let value as any RawRepresentable where !(value is any ManagedConvertible): persist(value.rawValue)
    case let value as any OptionalManagedValue: value.wrapped.flatMap { persist($0) }
    default: value
    }
  }

  static func objects(in members: Any) -> [ManagedObject] {
    switch members {
    case let object as ManagedObject: [object]
    case let list as NSArray: list.compactMap { $0 as? ManagedObject }
    case let set as NSSet: set.compactMap { $0 as? ManagedObject }
    case let set as NSOrderedSet: set.array.compactMap { $0 as? ManagedObject }
    case let sequence as any Sequence: elements(of: sequence)
    default: []
    }
  }

  private static func elements(of sequence: some Sequence) -> [ManagedObject] {
    sequence.compactMap { $0 as? ManagedObject }
  }
}

/// A type of a managed property that a plain cast doesn't give.
protocol ManagedConvertible {
  /// Returns the value as this type; the type's zero for nil, as scalar properties read on Apple's platforms.
  static func converted(_ value: Any?) -> Self?
}

protocol OptionalManagedValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalManagedValue {
  var wrapped: Any? { self }
}

extension Optional: ManagedConvertible where Wrapped: ManagedConvertible {
  static func converted(_ value: Any?) -> Wrapped?? {
    guard let value else { return .some(.none) }
    return .some(Wrapped.converted(value))
  }
}

extension ManagedConvertible where Self: FixedWidthInteger {
  static func converted(_ value: Any?) -> Self? {
    guard let number = value as? NSNumber else { return value == nil ? 0 : nil }
    return Self(truncatingIfNeeded: number.int64Value)
  }
}

extension Int: ManagedConvertible {}
extension Int16: ManagedConvertible {}
extension Int32: ManagedConvertible {}
extension Int64: ManagedConvertible {}
extension UInt: ManagedConvertible {}
extension UInt16: ManagedConvertible {}
extension UInt32: ManagedConvertible {}
extension UInt64: ManagedConvertible {}
extension Bool: ManagedConvertible {
  static func converted(_ value: Any?) -> Bool? { value == nil ? false : (value as? NSNumber)?.boolValue }
}
extension Double: ManagedConvertible {
  static func converted(_ value: Any?) -> Double? {
    if let date = value as? Date { return date.timeIntervalSinceReferenceDate }
    return value == nil ? 0 : (value as? NSNumber)?.doubleValue
  }
}
extension Float: ManagedConvertible {
  static func converted(_ value: Any?) -> Float? { value == nil ? 0 : (value as? NSNumber)?.floatValue }
}
extension String: ManagedConvertible {
  // A required attribute without a value, before the object is saved.
  static func converted(_ value: Any?) -> String? { value == nil ? "" : nil }
}
extension Date: ManagedConvertible {
  static func converted(_ value: Any?) -> Date? { value == nil ? Date(timeIntervalSinceReferenceDate: 0) : nil }
}
extension Data: ManagedConvertible {
  static func converted(_ value: Any?) -> Data? { value == nil ? Data() : nil }
}
extension UUID: ManagedConvertible {
  static func converted(_ value: Any?) -> UUID? {
    value == nil ? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) : nil
  }
}
extension Decimal: ManagedConvertible {
  static func converted(_ value: Any?) -> Decimal? { value == nil ? 0 : (value as? NSNumber)?.decimalValue }
}
extension NSObject: ManagedConvertible {
  static func converted(_ value: Any?) -> Self? {
    let object: NSObject? =
      switch value {
      case let value as String: NSString(string: value)
      case let value as Date: NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
      case let value as Data: NSData(data: value)
      case let value as UUID: NSUUID(uuidString: value.uuidString)
      case let value as URL: NSURL(string: value.absoluteString)
      case let value as [Any]: NSArray(array: value)
      case let value as [AnyHashable: Any]: NSDictionary(dictionary: value)
      case nil where self == NSSet.self: NSSet()
      case nil where self == NSOrderedSet.self: NSOrderedSet()
      default: value as? NSObject
      }
    return object as? Self
  }
}
extension Set: ManagedConvertible where Element: NSManagedObject {
  static func converted(_ value: Any?) -> Set<Element>? {
    Set(ManagedValue.objects(in: value ?? []).compactMap { $0 as? Element })
  }
}
extension Array: ManagedConvertible where Element: NSManagedObject {
  static func converted(_ value: Any?) -> [Element]? {
    ManagedValue.objects(in: value ?? []).compactMap { $0 as? Element }
  }
}
