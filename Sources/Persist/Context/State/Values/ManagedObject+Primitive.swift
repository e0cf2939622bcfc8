extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the value of a property, for a class's own accessors. Equal to ``value(forKey:)``.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``.
  public func primitiveValue(forKey name: String) throws -> Any? { try value(forKey: name) }

  /// Sets a property without marking the object as changed, for a class's own accessors.
  ///
  /// For the context, a saved object without other changes remains unchanged: the value isn't saved, and is lost when
  /// the object is refreshed. With other changes it is saved too. Both sides of a relationship always agree, so setting
  /// a relationship counts as a change like any other.
  ///
  /// ```swift
  /// func rename(to name: String) throws {
  ///   willChangeValue(forKey: "name")                      // now it counts
  ///   try setPrimitiveValue(name, forKey: "name")
  ///   didChangeValue(forKey: "name")
  /// }
  /// ```
  ///
  /// - Throws: The errors of ``setValue(_:forKey:)``.
  public func setPrimitiveValue(_ value: Any?, forKey name: String) throws {
    guard let property = layout.entity.property(named: name), property.attribute != nil else {
      return try setValue(value, forKey: name)
    }
    let stored = try stored(value, for: property)
    if loading == .fault { fulfill() }
    setPending(stored, at: property.slot)
    markGiven(property.slot)
  }

  /// Announces that a property is about to be read: fires the fault.
  public func willAccessValue(forKey name: String?) {
    if loading == .fault { fulfill() }
    // An object without a context, as after a reset, has no values to read.
    if loading == .fault, table == nil { finishLoading() }
  }

  /// The counterpart of ``willAccessValue(forKey:)``; does nothing.
  public func didAccessValue(forKey name: String?) {}

  /// Announces that a property is about to be changed: marks the object as changed.
  public func willChangeValue(forKey name: String) { willChange() }

  /// The counterpart of ``willChangeValue(forKey:)``; does nothing.
  public func didChangeValue(forKey name: String) {}
}
