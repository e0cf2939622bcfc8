extension RedeclarableMembers where Self: ManagedObject {
  /// Checks whether a property could have a value, according to the rules of the model and the class. Nothing is set.
  ///
  /// The class's rules for a to-many relationship get a ``RelationshipSet`` of the objects that belongs to no object.
  ///
  /// - Parameters:
  ///   - value: For an attribute, a value that ``setValue(_:forKey:)`` accepts; for a to-one relationship, a
  ///     ``ManagedObject`` or nil; for a to-many relationship, a collection of them.
  ///   - name: The name of the property.
  /// - Throws: The errors of ``ManagedObject/validateForInsert()`` for this property;
  ///   ``PersistenceError/Code/unknownProperty``, and ``PersistenceError/Code/typeMismatch`` if the property doesn't
  ///   accept such a value.
  public func validateValue(_ value: Any?, forKey name: String) throws {
    guard let property = layout.entity.property(named: name) else {
      _ = try self.value(forKey: name)
      return
    }
    var problems: [any Error] = []
    var checked = value
    let check = layout.checks.first { $0.slot == property.slot }
    if property.attribute != nil {
      let stored = try self.stored(value, for: property)
      if let column = ColumnCheck(property) {
        problems += column.problem(with: stored, of: layout.entity.name).map { [$0] } ?? []
      }
      problems += check?.problems(with: stored, of: layout.entity.name) ?? []
      checked = dynamicValue(stored, of: property)
    } else if property.isToMany {
      let members = RelationshipSet(try elements(of: value, name))
      problems += check?.problems(withCount: members.count, of: layout.entity.name) ?? []
      checked = members
    } else if property.isToOne {
      let destination = try elements(ofOne: value, name).first
      let stored = destination.map { StoredValue.objectID($0.objectID) } ?? .null
      problems += check?.problems(with: stored, of: layout.entity.name) ?? []
      checked = destination
    }
    for validator in type(of: self).validators where validator.key == name {
      do { try validator.check(self, checked) } catch { problems.append(error) }
    }
    try throwCombined(problems)
  }
}

extension PropertyValidator {
  /// - Parameters:
  ///   - key: The name of an attribute or relationship.
  ///   - check: Called with the object and the value, as ``RedeclarableMembers/value(forKey:)`` returns it once it is
  ///     set. If its error is the only problem, the save throws it unchanged. It must not change the object.
  public init(_ key: String, _ check: @escaping (ManagedObject, Any?) throws -> Void) {
    self.init(key: key, check: check) { object in try check(object, object.value(forKey: key)) }
  }
}
