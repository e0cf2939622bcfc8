extension ManagedObject {
  /// The value of a property, for a class's own accessors. Here it is what ``value(forKey:)`` gives.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``.
  public final func primitiveValue(forKey name: String) throws -> Any? { try value(forKey: name) }

  /// Sets a property without counting the object as changed, for a class's own accessors.
  ///
  /// A saved object that has no other changes stays as it is for its context: the value isn't saved, and goes with the
  /// object's next refresh. With other changes it is saved too. Both sides of a relationship always agree, and so
  /// setting one counts as a change like any other.
  ///
  /// ```swift
  /// func rename(to name: String) throws {
  ///   willChangeValue(forKey: "name")                      // now it counts
  ///   try setPrimitiveValue(name, forKey: "name")
  ///   didChangeValue(forKey: "name")
  /// }
  /// ```
  ///
  /// - Throws: as ``setValue(_:forKey:)``.
  public final func setPrimitiveValue(_ value: Any?, forKey name: String) throws {
    guard let property = layout.entity.property(named: name), property.attribute != nil else {
      return try setValue(value, forKey: name)
    }
    let stored = try stored(value, for: property)
    if loading == .fault { fulfil() }
    setPending(stored, at: property.slot)
    given.insert(property.slot)
  }

  /// Says that a property is about to be read: fires the fault.
  public final func willAccessValue(forKey name: String?) {
    if loading == .fault { fulfil() }
  }

  /// The other half of ``willAccessValue(forKey:)``; nothing is left to do.
  public final func didAccessValue(forKey name: String?) {}

  /// Says that a property is about to be changed: the object counts as changed from now on.
  public final func willChangeValue(forKey name: String) { willChange() }

  /// The other half of ``willChangeValue(forKey:)``; nothing is left to do.
  public final func didChangeValue(forKey name: String) {}
}
