extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the value at the end of a key path, such as `department.name`, `location.x` or `employees.@sum.salary`.
  ///
  /// - Returns: A value, a ``ManagedObject``, or an array of them if the path crosses a to-many relationship, with nil
  ///   for a member without a value.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for an unknown key.
  public func value(forKeyPath path: String) throws -> Any? {
    Self.any(try FetchExpression.key(path).value(for: self))
  }

  /// Sets the property at the end of a path over to-one relationships, or an element of a composite attribute.
  ///
  /// Does nothing if an object on the path is nil.
  ///
  /// - Throws: The errors of ``setValue(_:forKey:)``.
  public func setValue(_ value: Any?, forKeyPath path: String) throws {
    let keys = path.dottedKeys
    guard let first = keys.first, keys.count > 1 else { return try setValue(value, forKey: path) }
    let rest = keys.dropFirst()
    if let property = layout.entity.property(named: first), property.attribute?.type == .composite {
      return try setElement(value, at: rest, of: property)
    }
    guard layout.entity.property(named: first)?.isToOne == true else {
      throw PersistenceError(
        .unknownProperty, at: .property(layout.entity.name, first),
        "'\(path)' can't be set: '\(first)' isn't a to-one relationship.",
        fix: "Set the property of each object.")
    }
    let next = try self.value(forKey: first) as? ManagedObject
    try next?.setValue(value, forKeyPath: rest.joined(separator: "."))
  }

  /// Returns several properties by name; nil for those without a value.
  ///
  /// - Throws: The errors of ``value(forKey:)``.
  public func dictionaryWithValues(forKeys names: [String]) throws -> [String: Any?] {
    var values: [String: Any?] = Dictionary()
    for name in names { values.updateValue(try value(forKey: name), forKey: name) }
    return values
  }

  /// Sets several properties by name, in the order of their names.
  ///
  /// - Throws: The errors of ``setValue(_:forKey:)``; the properties before the one that fails are set.
  public func setValuesForKeys(_ values: [String: Any?]) throws {
    for (name, value) in values.sorted(on: \.key) { try setValue(value, forKey: name) }
  }
}

extension ManagedObject {
  fileprivate static func any(_ value: FetchValue) -> Any? {
    switch value {
    case .value(let value): DynamicValue.any(value)
    case .object(let object): object
    case .collection(let members): members.map(any)
    }
  }

  /// Sets an element of a composite attribute. The other elements keep their stored values, which may have no equal
  /// among Swift's: a stored URI needn't be a valid URL.
  fileprivate func setElement(_ value: Any?, at path: ArraySlice<String>, of property: Property) throws {
    let whole = attributeValue(at: property.slot)
    let isKnown = property.elements.contains { $0.path.dropFirst().starts(with: path) }
    if isKnown, GivenValue(value)?.isNull == true {
      return setAttributeValue(whole.removingElement(at: path), at: property.slot)
    }
    // Wraps the element in a composite of its own, so that it is converted or rejected like an element of a whole one.
    let alone = path.reversed().reduce(value ?? StoredValue.null) { inner, key in [key: inner] as [String: Any] }
    let element = try stored(alone, for: property).element(at: path)
    setAttributeValue(whole.replacing(path, with: element), at: property.slot)
  }
}

extension StoredValue {
  /// Returns a composite without an element at a path of names, and without the nested composites that become empty;
  /// null if no element remains.
  fileprivate func removingElement(at path: ArraySlice<String>) -> StoredValue {
    guard let name = path.first, case .composite(var elements) = self else { return .null }
    let inner = (elements[name] ?? .null).removingElement(at: path.dropFirst())
    elements[name] = inner.isNull ? nil : inner
    return elements.values.allSatisfy(\.isNull) ? .null : .composite(elements)
  }
}
