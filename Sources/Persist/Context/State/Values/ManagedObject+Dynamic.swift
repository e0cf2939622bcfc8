import Foundation

/// Access by name, for names and values that the program knows, and for those from outside.
extension ManagedObject {
  /// Accesses a property by name: an attribute's value, a ``ManagedObject``, or a ``RelationshipSet``.
  ///
  /// The name and the type of the new value are the programmer's responsibility: wrong ones trap with a message. For
  /// names and values from outside, use ``RedeclarableMembers/value(forKey:)`` and
  /// ``RedeclarableMembers/setValue(_:forKey:)``, which throw.
  ///
  /// ```swift
  /// item["name"] = "Tea"
  /// item["category"] = category
  /// let quantity = item["quantity"] as? Int
  /// ```
  public final subscript(name: String) -> Any? {
    get {
      do {
        return try value(forKey: name)
      } catch {
        if case let error as PersistenceError = error, error.code == .unknownProperty {
          ProgramStop.failure("\(error)")
        }
        // The stored bytes can't be decoded, which isn't a programming error.
        table?.context.deferError(error)
        return nil
      }
    }
    set {
      do {
        try setValue(newValue, forKey: name)
      } catch let error as PersistenceError where error.code == .foreignObject && table == nil {
        // The context may be gone while the program still holds the object, which isn't a programming error.
        if let slot = layout.entity.slot(named: name), layout.relationshipsBySlot[slot] == nil,
          hasObjects(newValue, name)
        {
          failWithoutContext(at: slot)
        }
      } catch {
        ProgramStop.failure("\(error)")
      }
    }
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the value of a property.
  ///
  /// - Returns: For an attribute, a value of its type, which ``ManagedObject/value(forKey:as:)`` returns as other
  ///   types; for a to-one relationship, a ``ManagedObject`` or nil; for a to-many relationship, a ``RelationshipSet``;
  ///   for a fetched property, an array of objects; for one of the class's ``ManagedObject/computedProperties``, the
  ///   computed value.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if the entity has no property with that name; the errors of a
  ///   fetched property's request.
  public func value(forKey name: String) throws -> Any? {
    let slot = layout.slot(named: name)
    if let slot, layout.plainType(slot) != nil { return DynamicValue.any(attributeValue(at: slot)) }
    if let computed = computedProperty(named: name, at: slot) { return computed.value(self) }
    let property = try property(named: name)
    switch property.kind {
    case .attribute(let attribute) where attribute.type == .transformable:
      return try transformedValue(of: attribute, at: property.slot)
    case .attribute: return DynamicValue.any(attributeValue(at: property.slot))
    case .relationship(let relationship):
      guard relationship.isToMany else { return toOne(at: property.slot) }
      return layout.relationshipsBySlot[property.slot] == nil ? nil : try related(name)
    case .fetchedProperty: return try fetchedObjects(of: property)
    }
  }

  /// Sets a property.
  ///
  /// | attribute type | accepted values |
  /// |---|---|
  /// | `int16 int32 int64` | integers of every type, within the range |
  /// | `boolean` | `Bool`, and the numbers 0 and 1 of every type |
  /// | `double` | numbers of every type; integers must be exactly representable, fractions are rounded |
  /// | `float` | as `double`, with a float's precision |
  /// | `decimal` | numbers of every type; a floating-point number is converted by its shortest text |
  /// | `string` | `String`, `Substring` |
  /// | `date` | `Date` |
  /// | `binary` | `Data`, `[UInt8]` |
  /// | `transformable` | values of its transformer, see ``AttributeTransformers``; the bytes as a ``StoredValue`` |
  /// | `uuid` | `UUID` |
  /// | `uri` | `URL`, `String` |
  /// | `composite` | a dictionary of its elements' values |
  /// | to-one relationship | a ``ManagedObject`` of the same context |
  /// | to-many relationship | a sequence of them: an array, a set, a ``RelationshipSet`` |
  ///
  /// Booleans are the numbers 1 and 0. `NSNumber`, `NSString` and Foundation's other classes are converted to the
  /// values they contain, and `NSNull` to nil. A number that the attribute can't represent without losing digits is
  /// rejected. The same rules apply to imports, batches and defaults; imports additionally parse text.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``, ``PersistenceError/Code/typeMismatch``, or
  ///   ``PersistenceError/Code/foreignObject`` for an object of another context.
  public func setValue(_ value: Any?, forKey name: String) throws {
    if let slot = layout.slot(named: name), let type = layout.plainType(slot),
      let stored = DynamicValue.stored(value, as: type)
    {
      return setAttributeValue(stored, at: slot)
    }
    let property = try property(named: name)
    switch property.kind {
    case .attribute: setAttributeValue(try stored(value, for: property), at: property.slot)
    case .relationship(let description):
      guard let relationship = layout.relationshipsBySlot[property.slot], table != nil else {
        throw PersistenceError(
          .foreignObject, at: place(name), "The object belongs to no context, so it has no relationships.",
          fix: "Insert it into a context first.")
      }
      if description.isToMany {
        replaceMembers(with: try relatable(elements(of: value, name), by: relationship), of: relationship)
      } else {
        setToOne(try relatable(elements(ofOne: value, name), by: relationship).first, at: property.slot)
      }
    case .fetchedProperty: throw notStored(property)
    }
  }
}

extension ManagedObject {
  /// Returns the stored form of a value for an attribute; null for other properties.
  final func stored(_ value: Any?, for property: Property) throws -> StoredValue {
    guard let attribute = property.attribute else { return .null }
    let conversion = ValueConversion(attribute, at: place(property.name))
    if attribute.type == .transformable { return try transformableValue(value, for: attribute) }
    return attribute.type == .composite
      ? try conversion.stored(value, elements: property.elements) : try conversion.stored(value)
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the members of an unordered to-many relationship, as a mutable view.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if the entity has no such relationship,
  ///   ``PersistenceError/Code/typeMismatch`` if it is ordered.
  public func mutableSetValue(forKey name: String) throws -> RelationshipSet<ManagedObject> {
    try related(name, isOrdered: false, instead: "mutableOrderedSetValue(forKey:)")
  }

  /// Returns the members of an ordered to-many relationship, as a mutable view.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if the entity has no such relationship,
  ///   ``PersistenceError/Code/typeMismatch`` if it isn't ordered.
  public func mutableOrderedSetValue(forKey name: String) throws -> RelationshipSet<ManagedObject> {
    try related(name, isOrdered: true, instead: "mutableSetValue(forKey:)")
  }

  /// Returns the members of an unordered to-many relationship at the end of a key path, as a mutable view.
  ///
  /// - Parameter path: To-one relationships, and a to-many one at the end: `shelf.books`.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if a property doesn't exist or an object is missing,
  ///   ``PersistenceError/Code/typeMismatch`` if a property has another kind.
  public func mutableSetValue(forKeyPath path: String) throws -> RelationshipSet<ManagedObject> {
    let (owner, key) = try owner(ofKeyPath: path)
    return try owner.mutableSetValue(forKey: key)
  }

  /// Returns the members of an ordered to-many relationship at the end of a key path, as a mutable view.
  ///
  /// - Parameter path: To-one relationships, and a to-many one at the end: `shelf.books`.
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if a property doesn't exist or an object is missing,
  ///   ``PersistenceError/Code/typeMismatch`` if a property has another kind.
  public func mutableOrderedSetValue(forKeyPath path: String) throws -> RelationshipSet<ManagedObject> {
    let (owner, key) = try owner(ofKeyPath: path)
    return try owner.mutableOrderedSetValue(forKey: key)
  }

  /// The object that has the last property of a key path.
  private func owner(ofKeyPath path: String) throws -> (ManagedObject, key: String) {
    var keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let last = keys.removeLast()
    var owner: ManagedObject = self
    for key in keys {
      guard try owner.property(named: key).isToOne else {
        throw PersistenceError(
          .typeMismatch, at: owner.place(key), "'\(key)' in the key path '\(path)' isn't a to-one relationship.",
          fix: "Use to-one relationships, and a to-many one at the end.")
      }
      guard let next = try owner.value(forKey: key) as? ManagedObject else {
        throw PersistenceError(
          .unknownProperty, at: owner.place(key), "'\(key)' in the key path '\(path)' has no object.",
          fix: "Set the relationship first.")
      }
      owner = next
    }
    return (owner, last)
  }
}

extension ManagedObject {
  /// Returns the identifiers of a relationship's objects without creating them.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if the entity has no such relationship.
  public final func objectIDs(forRelationshipNamed name: String) throws -> [ManagedObjectID] {
    let property = try property(named: name)
    guard property.relationship?.isToMany == false else { return try related(name).objectIDs }
    guard case .objectID(let id) = attributeValue(at: property.slot) else { return [] }
    return [id]
  }

  fileprivate final func related(
    _ name: String, isOrdered: Bool, instead: String
  ) throws -> RelationshipSet<ManagedObject> {
    let members = try related(name)
    guard members.source.isOrdered == isOrdered else {
      throw PersistenceError(
        .typeMismatch, at: place(name), "The relationship '\(name)' is \(isOrdered ? "not " : "")ordered.",
        fix: "Use \(instead).")
    }
    return members
  }

  /// Returns the members of a to-many relationship, ordered or not.
  package final func related(_ name: String) throws -> RelationshipSet<ManagedObject> {
    let slot = try property(named: name).slot
    if let relationship = layout.relationshipsBySlot[slot], relationship.isToMany {
      return RelationshipSet(owner: self, relationship: relationship)
    }
    guard table != nil || layout.properties[slot].isToMany == false else {
      throw PersistenceError(
        .foreignObject, at: place(name), "The object belongs to no context, so it has no relationships.",
        fix: "Insert it into a context first.")
    }
    throw PersistenceError(.unknownProperty, at: place(name), "'\(name)' isn't a to-many relationship.")
  }

  /// Returns the members of a to-many relationship by slot, for typed access.
  ///
  /// An object that was never inserted into a context has no members. Adding some traps.
  public final func toMany<Element: ManagedObject>(
    at slot: Int, of type: Element.Type = Element.self
  ) -> RelationshipSet<Element> {
    guard let relationship = layout.relationshipsBySlot[slot], relationship.isToMany else {
      guard table == nil, layout.properties[slot].relationship?.isToMany == true else {
        preconditionFailure("Slot \(slot) of '\(layout.entity.name)' isn't a to-many relationship.")
      }
      return RelationshipSet(source: .uninserted(slot: slot, of: self))
    }
    return RelationshipSet(owner: self, relationship: relationship)
  }

  fileprivate final func property(named name: String) throws -> Property {
    if let property = layout.entity.property(named: name) { return property }
    throw PersistenceError(
      .unknownProperty, at: .property(layout.entity.name, name), "'\(layout.entity.name)' has no property '\(name)'.",
      fix: "Its properties are \(layout.properties.map(\.name).sorted().joined(separator: ", ")).")
  }

  fileprivate final func place(_ name: String) -> PersistenceError.Place { .property(layout.entity.name, name) }

  fileprivate final func notStored(_ property: Property) -> PersistenceError {
    PersistenceError(
      .unknownProperty, at: place(property.name),
      "'\(property.name)' is a fetched property and can't be set.",
      fix: "Change the objects that its request fetches.")
  }

  /// Returns the object of a value for a to-one relationship; none for nil.
  final func elements(ofOne value: Any?, _ name: String) throws -> [ManagedObject] {
    switch value {
    case nil: return []
    case let object as ManagedObject: return [object]
    case let object as ManagedObject?: return object.map { [$0] } ?? []
    case let value? where GivenValue(value)?.isNull == true: return []
    case let value?: throw mismatch(value, name, takes: "a managed object")
    }
  }

  /// Returns the objects of a value for a to-many relationship.
  final func elements(of value: Any?, _ name: String) throws -> [ManagedObject] {
    guard let value else { return [] }
    guard let sequence = value as? any Sequence else {
      if GivenValue(value)?.isNull == true { return [] }
      throw mismatch(value, name, takes: "a sequence of objects")
    }
    return try Self.array(sequence).map { element in
      guard let object = element as? ManagedObject else { throw mismatch(element, name, takes: "managed objects") }
      return object
    }
  }

  /// Whether a value for a relationship contains objects, or isn't one.
  fileprivate final func hasObjects(_ value: Any?, _ name: String) -> Bool {
    let objects = (try? elements(of: value, name)) ?? (try? elements(ofOne: value, name))
    return objects?.isEmpty != true
  }

  fileprivate static func array(_ sequence: some Sequence) -> [Any] { sequence.map { $0 } }

  fileprivate final func mismatch(_ value: Any, _ name: String, takes: String) -> PersistenceError {
    PersistenceError(.typeMismatch, at: place(name), "'\(name)' takes \(takes), not a \(type(of: value)).")
  }

  fileprivate final func relatable(
    _ objects: [ManagedObject], by relationship: RelationshipLayout
  ) throws -> [ManagedObject] {
    for object in objects {
      guard object.table?.context === table?.context else {
        throw PersistenceError(
          .foreignObject, at: place(relationship.name), "\(object) belongs to another context, or to none.",
          fix: "Look up this context's object by its identifier.")
      }
      guard object.layout.isKind(ofEntityAt: relationship.destinationIndex) else {
        throw PersistenceError(
          .typeMismatch, at: place(relationship.name),
          "'\(relationship.name)' can't contain objects of '\(object.layout.entity.name)'.")
      }
    }
    return objects
  }
}

extension ManagedObject {
  /// Returns the objects of a fetched property.
  final func fetchedObjects(of property: Property) throws -> [ManagedObject] {
    guard property.fetchedProperty != nil else { return [] }
    recordRead(at: property.slot)
    guard let context = table?.context else {
      recordEmptyAnswer(at: property.slot)
      return []
    }
    return try context.hooks.fetch(property, self)
  }
}
