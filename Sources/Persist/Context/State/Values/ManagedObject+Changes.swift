import Foundation

extension ManagedObject {
  /// The names of the persistent properties with changes relative to the store; for a new object, relative to empty
  /// values.
  public final var changedPropertyNames: [String] {
    recordRead(.whole)
    guard change != .none else { return [] }
    return layout.properties.indices.filter { isChanged(at: $0) }.map { layout.properties[$0].name }
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the persistent properties that differ from the store, by name: attributes, objects of to-one
  /// relationships, identifiers of to-many members.
  ///
  /// A relationship that was set and cleared again is included as cleared.
  public func changedValues() -> [String: Any?] {
    recordRead(.whole)
    guard change != .none else { return Dictionary() }
    var values: [String: Any?] = Dictionary()
    for property in layout.properties where isChanged(at: property.slot) || isCleared(at: property.slot) {
      if let relationship = layout.relationshipsBySlot[property.slot], relationship.isToMany {
        values[property.name] = .some(memberIDs(of: relationship).elements)
      } else if property.isToOne {
        let end = destination(at: property.slot)
        if let end { hold(end, at: property.slot) }
        values[property.name] = .some(end)
      } else {
        values[property.name] = .some(dynamicValue(unobservedValue(at: property.slot), of: property))
      }
    }
    return values
  }
}

extension ManagedObject {
  fileprivate final func isCleared(at slot: Int) -> Bool {
    change == .updated && layout.kinds[slot] == .toOne && pending[slot] == .null
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the values of changed persistent properties before the unprocessed changes, by name.
  ///
  /// Attributes, objects of to-one relationships, identifiers of to-many members. During the notification of an event,
  /// the values refer to that event. Empty for an object inserted in the event.
  public func changedValuesForCurrentEvent() -> [String: Any?] {
    guard let context = table?.context, let before = context.beginTracking().stateBefore(self) ?? nil
    else { return Dictionary() }
    var values: [String: Any?] = Dictionary()
    for property in layout.properties {
      switch layout.kinds[property.slot] {
      case .attribute, .composite:
        guard let old = oldValue(at: property.slot, before) else { continue }
        values[property.name] = .some(dynamicValue(old, of: property))
      case .toOne:
        guard let old = oldValue(at: property.slot, before) else { continue }
        if case .objectID(let id) = old {
          values[property.name] = .some(context.registeredOrFault(id))
        } else {
          values[property.name] = .some(nil)
        }
      case .toMany:
        guard let relationship = layout.relationshipsBySlot[property.slot] else { continue }
        guard let difference = MembersDifference(of: relationship, before: before, now: self) else { continue }
        let now = memberIDs(of: relationship)
        let old = difference.oldOrder ?? now.subtracting(difference.gained).union(difference.lost)
        values[property.name] = .some(old.elements)
      case .transient, .transientToMany, .fetched: continue
      }
    }
    return values
  }
}

extension ManagedObject {
  /// Returns the value of an attribute or to-one relationship in an earlier state, or nil if it is unchanged.
  final func oldValue(at slot: Int, _ before: ObjectState) -> StoredValue? {
    let old = pendingValue(at: slot, in: before)
    let new = pending[slot]
    if old == nil, new == nil { return nil }
    let (oldValue, newValue) = (old ?? committedValue(at: slot), new ?? committedValue(at: slot))
    return oldValue == newValue ? nil : oldValue
  }

  /// Returns the value of an attribute or to-one relationship that the object had besides its row in an earlier state.
  final func pendingValue(at slot: Int, in before: ObjectState) -> StoredValue? {
    if let value = before.pending[slot] { return value }
    // The object may have been a fault then, whose fetch hook has set the value since.
    return layout.kinds[slot] == .transient && change != .none ? formerValues[slot] : nil
  }
}

extension RedeclarableMembers where Self: ManagedObject {
  /// Returns the last read or saved values of stored properties: attributes, and identifiers for relationships; nil or
  /// empty for a new object.
  ///
  /// - Parameter names: The properties to return; nil for all. Properties that aren't stored are omitted.
  public func committedValues(forKeys names: [String]? = nil) -> [String: Any?] {
    recordRead(.whole)
    if loading == .fault { fulfill() }
    var values: [String: Any?] = Dictionary()
    for property in layout.properties where !property.isTransient && names?.contains(property.name) != false {
      if let relationship = layout.relationshipsBySlot[property.slot], relationship.isToMany {
        _ = memberIDs(of: relationship)
        values[property.name] = .some(members(of: relationship).base?.elements ?? [])
      } else {
        values[property.name] = .some(dynamicValue(committedValue(at: property.slot), of: property))
      }
    }
    return values
  }
}

extension ManagedObject {
  /// Whether the object's only changes are removed members.
  final var onlyLosesMembers: Bool {
    pending.isEmpty && toManys.allSatisfy { $0.map { $0.added.isEmpty && !$0.isReordered } ?? true }
  }

  /// Whether the members of a to-many relationship aren't read yet; for a to-one relationship, whether its destination
  /// is a fault.
  public final func hasFault(forRelationshipNamed name: String) -> Bool {
    guard let property = layout.entity.property(named: name), property.relationship != nil else { return false }
    guard property.isToMany else {
      return destination(at: property.slot)?.isFault ?? false
    }
    return toManys.isEmpty || toManys[property.slot]?.areKnown != true
  }

  /// Whether a save would write any values of the object; changes to transient attributes alone don't count.
  public final var hasPersistentChangedValues: Bool {
    recordRead(.whole)
    return change == .inserted || change == .deleted || (change == .updated && hasPersistentChanges)
  }

  fileprivate final var hasPersistentChanges: Bool {
    !pending.allSatisfy { slot, _ in !isChanged(at: slot) } || toManys.indices.contains(where: isChanged)
  }
}

extension ManagedObject {
  /// Whether a parent of the context has the object as a new one, without a row in any store.
  final var isNewInParent: Bool {
    var parent = table?.context.parent
    while let context = parent {
      if context.registeredObject(for: objectID)?.change == .inserted { return true }
      parent = context.parent
    }
    return false
  }
}
