public import Foundation
import Persist

// Accessors of the common types of `@NSManaged` properties. Each of them reads the attribute's slot if the attribute
// has exactly its type, and otherwise converts the value as the general accessor does.
extension NSManagedObject {
  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Int16 {
    guard let slot = attributeSlot(of: key.property, as: .int16) else { return convertedValue(key) }
    return Int16(truncatingIfNeeded: reading { plain.integer(at: slot) } ?? 0)
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Int32 {
    guard let slot = attributeSlot(of: key.property, as: .int32) else { return convertedValue(key) }
    return Int32(truncatingIfNeeded: reading { plain.integer(at: slot) } ?? 0)
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Int64 {
    guard let slot = attributeSlot(of: key.property, as: .int64) else { return convertedValue(key) }
    return reading { plain.integer(at: slot) } ?? 0
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Double {
    guard let slot = attributeSlot(of: key.property, as: .double) else { return convertedValue(key) }
    return reading { plain.double(at: slot) } ?? 0
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Float {
    guard let slot = attributeSlot(of: key.property, as: .float) else { return convertedValue(key) }
    return reading { plain.double(at: slot) }.map { Float($0) } ?? 0
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Bool {
    guard let slot = attributeSlot(of: key.property, as: .boolean) else { return convertedValue(key) }
    return reading { plain.boolean(at: slot) } ?? false
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> String {
    guard let slot = attributeSlot(of: key.property, as: .string) else { return convertedValue(key) }
    return reading { plain.string(at: slot) } ?? ""
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> String? {
    guard let slot = attributeSlot(of: key.property, as: .string) else { return convertedValue(key) }
    return reading { plain.string(at: slot) }
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Date? {
    guard let slot = attributeSlot(of: key.property, as: .date) else { return convertedValue(key) }
    return reading { plain.date(at: slot) }
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> Data? {
    guard let slot = attributeSlot(of: key.property, as: .binary) else { return convertedValue(key) }
    return reading { plain.data(at: slot) }
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> UUID? {
    guard let slot = attributeSlot(of: key.property, as: .uuid) else { return convertedValue(key) }
    return reading { plain.uuid(at: slot) }
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue<Object: NSManagedObject>(_ key: ManagedKey) -> Object? {
    guard let slot = relationshipSlot(of: key.property, isToMany: false) else { return convertedValue(key) }
    guard let object = reading({ plain.toOne(at: slot) }) else { return nil }
    return object as? Object ?? convertedValue(key)
  }

  /// Returns a property's value, for the getter of an `@NSManaged` property of this type.
  public final func managedValue(_ key: ManagedKey) -> NSSet? {
    guard let slot = relationshipSlot(of: key.property, isToMany: true) else { return convertedValue(key) }
    return reading { NSSet(array: Array(plain.toMany(at: slot, of: ManagedObject.self))) }
  }

  /// Reads through the queues of parent contexts, if there are any.
  @inline(__always)
  private func reading<Result>(_ body: () -> Result) -> Result {
    plain.hasParentContext ? withParents(body) : body()
  }
}

extension NSManagedObject {
  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Int16, _ key: ManagedKey) {
    set(.integer(Int64(value)), key, as: .int16, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Int32, _ key: ManagedKey) {
    set(.integer(Int64(value)), key, as: .int32, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Int64, _ key: ManagedKey) { set(.integer(value), key, as: .int64, value) }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Double, _ key: ManagedKey) {
    // A scalar date is the time since the reference date.
    guard let slot = attributeSlot(of: key.property, as: .date) else {
      return set(.double(value), key, as: .double, value)
    }
    reading { plain.setAttributeValue(.date(Date(timeIntervalSinceReferenceDate: value)), at: slot) }
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Float, _ key: ManagedKey) {
    set(.double(Double(value)), key, as: .float, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Bool, _ key: ManagedKey) { set(.boolean(value), key, as: .boolean, value) }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: String?, _ key: ManagedKey) {
    set(value.map { .string($0) } ?? .null, key, as: .string, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Date?, _ key: ManagedKey) {
    set(value.map { .date($0) } ?? .null, key, as: .date, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: Data?, _ key: ManagedKey) {
    set(value.map { .data($0) } ?? .null, key, as: .binary, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue(_ value: UUID?, _ key: ManagedKey) {
    set(value.map { .uuid($0) } ?? .null, key, as: .uuid, value)
  }

  /// Sets a property's value, for the setter of an `@NSManaged` property of this type.
  public final func setManagedValue<Object: NSManagedObject>(_ value: Object?, _ key: ManagedKey) {
    guard let slot = relationshipSlot(of: key.property, isToMany: false) else { return setManagedAny(value, key.name) }
    reading { plain.setToOne(value, at: slot) }
  }

  @inline(__always)
  private func set(
    _ stored: @autoclosure () -> StoredValue, _ key: ManagedKey, as type: Persist.AttributeType,
    _ value: @autoclosure () -> Any?
  ) {
    guard let slot = attributeSlot(of: key.property, as: type) else { return setManagedAny(value(), key.name) }
    reading { plain.setAttributeValue(stored(), at: slot) }
  }
}
