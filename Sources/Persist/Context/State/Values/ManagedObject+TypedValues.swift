import Foundation

extension ManagedObject {
  /// Returns the value of a property as a given type.
  ///
  /// ``RedeclarableMembers/value(forKey:)`` returns an integer attribute as `Int`, and Swift casts `Any` neither from
  /// `Int` to `Int64`, nor from a ``RelationshipSet`` to a `Set`. Code written for Core Data can name the type instead:
  ///
  /// ```swift
  /// let quantity = try item.value(forKey: "quantity", as: Int64.self)
  /// let price = try item.value(forKey: "price", as: NSNumber.self)
  /// let items = try category.value(forKey: "items", as: Set<Item>.self)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - type: For a number, any integer type, `Bool`, `Double`, `Float`, `Decimal`, `NSNumber` or `NSDecimalNumber`,
  ///     if it represents the number exactly; the Swift type or Foundation class of a string, a date, data, a UUID or a
  ///     URI; ``StoredValue``; for a to-one relationship, a managed object class; for a to-many relationship and a
  ///     fetched property, an array or set of one, `NSSet`, `NSOrderedSet` or `NSArray`; for a transformable attribute,
  ///     the type that its transformer returns.
  /// - Returns: Nil if the property has no value.
  /// - Throws: ``PersistenceError/Code/typeMismatch`` if the value can't be returned as the type; the errors of
  ///   ``RedeclarableMembers/value(forKey:)``.
  public final func value<Wanted>(forKey name: String, as type: Wanted.Type) throws -> Wanted? {
    guard let property = layout.entity.property(named: name), let attribute = property.attribute,
      attribute.type != .transformable, attribute.type != .composite,
      !isComputed(name, at: property.slot)
    else { return try converted(value(forKey: name), name, as: type) }
    let stored = attributeValue(at: property.slot)
    if stored.isNull { return nil }
    if let value = ValueConversion.value(stored, as: type) { return value }
    throw mismatch(at: name, value: stored.description, type: type)
  }

  private func isComputed(_ name: String, at slot: Int) -> Bool { computedProperty(named: name, at: slot) != nil }

  /// Converts a value that isn't a stored attribute's.
  private func converted<Wanted>(_ value: Any?, _ name: String, as type: Wanted.Type) throws -> Wanted? {
    guard let value else { return nil }
    if let value = value as? Wanted { return value }
    if case .value(let computed)? = GivenValue(value), let value = ValueConversion.value(computed, as: type) {
      return value
    }
    guard let objects = (value as? any Sequence<ManagedObject>)?.map({ $0 }) else {
      throw mismatch(at: name, value: "a \(Swift.type(of: value))", type: type)
    }
    let result: Any? =
      switch ObjectIdentifier(type) {
      case ObjectIdentifier(NSSet.self): NSSet(array: objects)
      case ObjectIdentifier(NSArray.self): NSArray(array: objects)
      case ObjectIdentifier(NSOrderedSet.self): NSOrderedSet(array: objects)
      default: (type as? any ManagedObjectCollection.Type)?.collection(of: objects)
      }
    if let result = result as? Wanted { return result }
    throw mismatch(at: name, value: "a collection of \(objects.count) objects", type: type)
  }

  private func mismatch(at name: String, value: String, type: Any.Type) -> PersistenceError {
    PersistenceError(
      .typeMismatch, at: .property(layout.entity.name, name), "'\(name)' is \(value), which isn't a value of \(type).",
      fix: "Read it as a type that can hold the property's values.")
  }
}

extension ManagedObject {
  /// Returns the destination of a to-one relationship as an object of its class, for generated properties.
  public final func toOne<Destination: ManagedObject>(at slot: Int, as type: Destination.Type) -> Destination? {
    guard let object = toOne(at: slot) else { return nil }
    guard let destination = object as? Destination else {
      ProgramStop.failure("\(object) is of class \(Swift.type(of: object)), not \(type): register its class.")
    }
    return destination
  }
}

/// A collection of managed objects of one class, as which a to-many relationship can be read.
private protocol ManagedObjectCollection {
  /// Returns nil if an object has another class.
  static func collection(of objects: [ManagedObject]) -> Self?
}

extension Array: ManagedObjectCollection where Element: ManagedObject {
  fileprivate static func collection(of objects: [ManagedObject]) -> Self? {
    let elements = objects.compactMap { $0 as? Element }
    return elements.count == objects.count ? elements : nil
  }
}

extension Set: ManagedObjectCollection where Element: ManagedObject {
  fileprivate static func collection(of objects: [ManagedObject]) -> Self? {
    [Element].collection(of: objects).map(Set.init)
  }
}
