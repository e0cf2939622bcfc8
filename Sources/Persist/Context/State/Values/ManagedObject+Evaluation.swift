/// Access for predicates and expressions: the object's current values, including unsaved changes. A fault that has its
/// row remains a fault.
extension ManagedObject: KeyedObject {
  /// Returns the current value of a property, or of a computed property of the class, for predicates and expressions.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for an unknown key or a fetched property; errors of reading
  ///   the row.
  public final func fetchValue(forKey key: String) throws -> FetchValue {
    let property = layout.entity.property(named: key)
    if let computed = computedProperty(named: key, at: property?.slot) { return Self.fetchValue(computed.value(self)) }
    guard let property else {
      throw PersistenceError(
        .unknownProperty, at: .property(layout.entity.name, key), "'\(layout.entity.name)' has no property '\(key)'.",
        fix: "Its properties are \(layout.properties.map(\.name).sorted().joined(separator: ", ")).")
    }
    switch property.kind {
    case .attribute:
      recordRead(at: property.slot)
      return .value(presentValue(at: property.slot))
    case .relationship(let relationship):
      guard relationship.isToMany else {
        recordRead(at: property.slot)
        guard let context = table?.context, case .objectID(let id) = presentValue(at: property.slot)
        else { return .null }
        guard let end = withCompanions(context.registeredOrFault(id)) else { return .null }
        hold(end, at: property.slot)
        return .object(end)
      }
      guard layout.relationshipsBySlot[property.slot] != nil else { return .collection([]) }
      return .collection(try related(key).map(FetchValue.object))
    case .fetchedProperty:
      throw PersistenceError(
        .unknownProperty, at: .property(layout.entity.name, key),
        "'\(key)' is a fetched property and has no value.", fix: "Fetch its objects with a request.")
    }
  }

  /// A value of a type that no attribute has can't be compared with anything, and counts as null.
  private static func fetchValue(_ computed: Any?) -> FetchValue {
    if let object = computed as? ManagedObject { return .object(object) }
    if let objects = computed as? any Sequence<ManagedObject> { return .collection(objects.map(FetchValue.object)) }
    switch GivenValue(computed) {
    case .value(let value)?: return .value(value)
    case .float(let number)?: return .value(.double(Double(number)))
    case nil: return .null
    }
  }

  /// Whether the entity or the class has a property with this name, including computed ones.
  public final func hasProperty(named name: String) -> Bool {
    layout.entity.slot(named: name) != nil || computedProperty(named: name, at: nil) != nil
  }

  /// The object's identifier, by which predicates compare objects.
  public final var fetchIdentity: StoredValue { .objectID(objectID) }

  /// The name of the object's most specific entity.
  public final var fetchEntityName: String? { layout.entity.name }
}

/// An object as a format string's argument represents its identifier: `"owner == %@", person`.
extension ManagedObject: FetchArgument {
  /// The object's identifier as a constant.
  public final var fetchExpression: FetchExpression { .constant(.objectID(objectID)) }
}
