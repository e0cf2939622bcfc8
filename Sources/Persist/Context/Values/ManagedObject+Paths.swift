extension ManagedObject {
  /// The value at the end of a path of keys, such as `department.name`, `location.x` or `employees.@sum.salary`.
  ///
  /// - Returns: a value, a ``ManagedObject``, or an array of them for what goes through a to-many relationship, with
  ///   nil for a member that has no value.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for a key that isn't there.
  public final func value(forKeyPath path: String) throws -> Any? {
    Self.any(try FetchExpression.key(path).value(for: self))
  }

  /// Sets the property at the end of a path through to-one relationships, or an element of a composite attribute.
  ///
  /// Nothing happens where an object on the way isn't there.
  ///
  /// - Throws: as ``setValue(_:forKey:)``.
  public final func setValue(_ value: Any?, forKeyPath path: String) throws {
    let keys = path.split(separator: ".").map(String.init)
    guard let first = keys.first, keys.count > 1 else { return try setValue(value, forKey: path) }
    let rest = keys.dropFirst()
    if layout.entity.property(named: first)?.attribute?.type == .composite {
      var elements = try self.value(forKey: first) as? [String: Any] ?? [:]
      Self.put(value, at: rest, in: &elements)
      return try setValue(elements.isEmpty ? nil : elements, forKey: first)
    }
    guard layout.entity.property(named: first)?.isToOne == true else {
      throw PersistenceError(
        .unknownProperty, at: .property(layout.entity.name, first),
        "'\(path)' doesn't lead to one property: '\(first)' isn't a to-one relationship.",
        fix: "Set the property of each object.")
    }
    let next = try self.value(forKey: first) as? ManagedObject
    try next?.setValue(value, forKeyPath: rest.joined(separator: "."))
  }

  private static func any(_ value: FetchValue) -> Any? {
    switch value {
    case .value(let value): DynamicValue.any(value)
    case .object(let object): object
    case .collection(let members): members.map(any)
    }
  }

  private static func put(_ value: Any?, at keys: ArraySlice<String>, in elements: inout [String: Any]) {
    guard let key = keys.first else { return }
    guard keys.count > 1 else {
      elements[key] = value
      return
    }
    var inner = elements[key] as? [String: Any] ?? [:]
    put(value, at: keys.dropFirst(), in: &inner)
    elements[key] = inner.isEmpty ? nil : inner
  }
}
