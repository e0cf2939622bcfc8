/// Resolves uniqueness conflicts, with one rule for all of them.
///
/// A new object takes over the row that already has the values: an upsert. Objects of the same save are resolved as if
/// they had been saved one after another.
struct ConstraintResolution {
  private let context: ManagedObjectContext
  private let rule: ConflictRule
  private let holders: OneWayHolders

  init(in context: ManagedObjectContext, by rule: ConflictRule) {
    self.context = context
    self.rule = rule
    holders = OneWayHolders(in: context)
  }

  func resolve(_ conflicts: [ConstraintConflict]) throws {
    for conflict in conflicts {
      var objects = conflict.conflictingObjectIDs.compactMap(context.registeredObject(for:))
      if let id = conflict.databaseObjectID, let row = conflict.row {
        let isHeld = context.registeredObject(for: id) != nil
        guard let holder = context.registeredOrFault(id) else { continue }
        adoptRow(holder, on: row)
        if !isHeld, let heir = objects.first(where: { $0.change == .inserted && $0.layout === holder.layout }) {
          merge(heir, into: holder, conflict)
          context.graph.replace(holder, by: heir)
          objects.removeAll { $0 === heir }
          for object in objects { merge(object, into: heir, conflict) }
        } else {
          for object in objects { merge(object, into: holder, conflict) }
        }
      } else if let first = objects.first {
        for object in objects.dropFirst() { merge(object, into: first, conflict) }
      }
    }
    try context.throwDeferredError()
  }

  private func adoptRow(_ holder: ManagedObject, on row: RowSnapshot) {
    if holder.change == .updated || holder.loading == .loaded {
      holder.rebase(onto: row)
      // The values are known: the object needn't read them, nor call its class's fetch hook.
      holder.finishLoading()
    } else {
      holder.load(row)
    }
  }

  private func merge(_ object: ManagedObject, into holder: ManagedObject, _ conflict: ConstraintConflict) {
    if object.change == .inserted {
      absorb(object, into: holder)
    } else if holder.change == .inserted {
      absorb(holder, into: object)
    } else if rule.keepsChanges {
      // One of the two rows must be deleted: the object keeps the value and takes over the other's members.
      moveMembers(of: holder, to: object)
      context.delete(holder)
    } else {
      revertChanges(object, conflict)
    }
  }

  /// Reverts an object's changes: all of them, or only those to the unique properties.
  private func revertChanges(_ object: ManagedObject, _ conflict: ConstraintConflict) {
    for stored in object.layout.storedSlots where object.differsFromStored(stored) {
      let name = object.layout.properties[stored.slot].name
      if rule == .rollback || conflict.constraint.contains(where: { $0.dottedKeys.first == name }) {
        object.revert(stored)
      }
    }
    guard rule == .rollback else { return }
    for relationship in object.layout.relationships where relationship.isToMany && !relationship.isTransient {
      object.revertMembers(of: relationship)
    }
  }

  /// Merges a new object into another one, and detaches it.
  private func absorb(_ object: ManagedObject, into holder: ManagedObject) {
    moveReferences(to: object, to: holder)
    moveMembers(of: object, to: holder)
    for stored in object.layout.storedSlots {
      let isShared = holder.layout.shares(stored.slot, with: object.layout)
      let isWritten = isShared && rule.keepsChanges && (rule == .overwrite || object.wasGiven(stored.slot))
      if stored.kind == .toOne {
        let target = object.destination(at: stored.slot)
        object.setToOne(nil, at: stored.slot)
        if isWritten { relate(holder, to: target, at: stored.slot) }
      } else if isWritten {
        holder.setAttributeValue(object.presentValue(at: stored.slot), at: stored.slot)
      }
    }
    context.graph.absorb(object, into: holder)
  }

  /// Moves the members of an object's to-many relationships to another object.
  private func moveMembers(of object: ManagedObject, to holder: ManagedObject) {
    for relationship in object.layout.relationships where relationship.isToMany {
      let isShared = holder.layout.shares(relationship.slot, with: object.layout)
      let isOwnedByMembers = relationship.inverse.map { !$0.isToMany } ?? false
      for id in object.memberIDs(of: relationship) {
        guard let member = context.registeredOrFault(id), member.change != .deleted else { continue }
        if isShared, rule != .rollback || isOwnedByMembers {
          if !isOwnedByMembers { object.removeMember(member, of: relationship) }
          insert(member === object ? holder : member, into: relationship, of: holder)
        } else {
          object.removeMember(member, of: relationship)
        }
      }
    }
  }

  /// Redirects unsaved relationships without an inverse from one object to another.
  private func moveReferences(to object: ManagedObject, to holder: ManagedObject) {
    let sources = holders.holders(of: object)
    for referrer in object.layout.oneWayReferrers {
      for source in sources where source !== object && source.layout.isKind(ofEntityAt: referrer.entityIndex) {
        guard let relationship = source.layout.relationshipsBySlot[referrer.slot] else { continue }
        if relationship.isToMany {
          guard !source.toManys.isEmpty, source.toManys[referrer.slot]?.added.contains(object.objectID) == true else {
            continue
          }
          source.removeMember(object, of: relationship)
          insert(holder, into: relationship, of: source)
        } else if source.destination(at: referrer.slot) === object {
          relate(source, to: holder, at: referrer.slot)
        }
      }
    }
  }

  private func relate(_ source: ManagedObject, to destination: ManagedObject?, at slot: Int) {
    guard let destination else { return source.setToOne(nil, at: slot) }
    holders.relate(source, to: destination) { source.setToOne(destination, at: slot) }
  }

  private func insert(_ member: ManagedObject, into relationship: RelationshipLayout, of owner: ManagedObject) {
    holders.relate(owner, to: member) { owner.insertMember(member, of: relationship) }
  }
}

extension EntityLayout {
  /// Whether a slot of another entity is the same property in this one: inherited properties keep their slots.
  fileprivate func shares(_ slot: Int, with other: EntityLayout) -> Bool {
    properties.indices.contains(slot) && properties[slot].declaringEntity == other.properties[slot].declaringEntity
  }
}
