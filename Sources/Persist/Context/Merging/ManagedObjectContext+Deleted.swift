/// Handles objects whose rows others deleted, and deletions of rows that others changed.
extension ManagedObjectContext {
  /// Treats an object as deleted because others deleted its row. Unsaved relationships to it are dropped; values that
  /// it had read remain readable.
  ///
  /// - Parameters:
  ///   - staysRegistered: Whether the object stays registered in the context as long as it is held.
  ///   - holders: Shared by the calls for several objects; nil for a single one.
  func removeDeletedByOthers(
    _ object: ManagedObject, staysRegistered: Bool = false, holders: OneWayHolders? = nil
  ) {
    graph.discardDeletedByOthers(object)
    for relationship in object.layout.relationships { leave(object, relationship) }
    DeletePropagation(in: self).clearOneWayReferences(to: object, holders ?? OneWayHolders(in: self))
    for stored in object.layout.storedSlots { object.clearPending(at: stored.slot) }
    object.replaceMembers(with: [])
    if staysRegistered {
      object.loseRow()
    } else {
      recordReferences(to: [object])
      graph.departAsDeleted(object)
    }
  }

  /// Removes objects whose deletion was saved to the parent from what was read of the other ends that they had there:
  /// these may have been related to them, and read, after the objects themselves.
  func removeFromEndsInParent(_ deleted: [ManagedObject]) {
    guard let parent else { return }
    for object in deleted {
      guard let original = parent.registeredObject(for: object.objectID) else { continue }
      for relationship in original.layout.relationships
      where relationship.inverse != nil && !relationship.leavesOthersAlone {
        leave(object, relationship, at: original.endsInMemory(of: relationship))
      }
    }
  }

  /// Removes an object from the other side of one of its relationships, as far as that is in memory.
  private func leave(_ object: ManagedObject, _ relationship: RelationshipLayout) {
    leave(object, relationship, at: object.endsInMemory(of: relationship))
  }

  private func leave(_ object: ManagedObject, _ relationship: RelationshipLayout, at ends: [ManagedObjectID]) {
    for id in ends {
      guard let other = registeredObject(for: id), other !== object, let back = other.back(of: relationship) else {
        continue
      }
      if back.isToMany {
        if !other.toManys.isEmpty { other.toManys[back.slot]?.drop(object.objectID) }
        other.releaseMember(object, at: back.slot)
      } else if other.pending[back.slot] == .objectID(object.objectID) {
        other.setPending(.null, at: back.slot)
      } else if other.change == .none, other.loading == .loaded,
        other.committedValue(at: back.slot) == .objectID(object.objectID)
      {
        recordFormerEnds(of: other)
        other.becomeFault()
      }
    }
  }

  /// Removes deleted objects from the members in which the rule "no action" left them: the pairs of a many-to-many
  /// relationship are deleted along with either row.
  ///
  /// The owners' rows aren't changed, and a deleted object that was never read doesn't know its owners. So this looks
  /// through the members that are in memory, but only for objects that have such a relationship. It reads no rows.
  func removeFromMembersLeftAlone(_ deleted: [ManagedObject]) {
    var lost: [Int: [ManagedObjectID: ManagedObject]] = Dictionary()
    deleted.forEachUnretained { object in
      guard object.withLayout({ $0.leavesMembersAlone }) else { return }
      for relationship in object.layout.relationships where relationship.deleteRule == .noAction {
        guard relationship.isToMany, let inverse = relationship.inverse, inverse.isToMany else { continue }
        lost[inverse.slot, default: Dictionary()][object.objectID] = object
      }
    }
    guard !lost.isEmpty else { return }
    for owner in tables.flatMap({ $0.map.objects }) where !owner.toManys.isEmpty {
      for (slot, objects) in lost where slot < owner.toManys.count {
        guard let members = owner.toManys[slot] else { continue }
        for id in members.mentioned {
          guard let object = objects[id] else { continue }
          members.drop(id)
          owner.releaseMember(object, at: slot)
        }
      }
    }
  }

  /// Marks an object whose row others deleted for insertion under its former key.
  ///
  /// It keeps its snapshot, from which the new row gets its version; see ``ManagedObject/insertedVersion``.
  ///
  /// - Throws: The store's errors.
  func reinsert(_ object: ManagedObject) throws {
    recordFormerEnds(of: object)
    if !object.isInEvent { object.enterEvent() }
    for relationship in object.layout.toOnes {
      guard case .objectID(let id) = object.presentValue(at: relationship.slot) else { continue }
      if try isGone(id) {
        removeFromDeletedDestination(id, from: object, by: relationship)
      } else if relationship.inverse?.isToMany == false {
        try restorePair(object, by: relationship)
      } else {
        rejoinOwner(of: object, by: relationship)
      }
    }
    for stored in object.layout.storedSlots {
      object.setPending(object.presentValue(at: stored.slot), at: stored.slot)
    }
    graph.reinsert(object)
  }

  /// Clears a relationship of an object being reinserted if the destination's row remains deleted.
  ///
  /// The destination is reinserted only for changes of its own. Losing this object isn't one: the destination is reread
  /// after the save, and found to be deleted.
  private func removeFromDeletedDestination(
    _ id: ManagedObjectID, from object: ManagedObject, by relationship: RelationshipLayout
  ) {
    if registeredObject(for: id)?.hasPersistentChangedValues == true {
      return object.setToOne(nil, at: relationship.slot)
    }
    object.willChange()
    object.setPending(.null, at: relationship.slot)
  }

  /// Counts an object being reinserted as a new member of its owner, so that the save increments the owner's version:
  /// others may have read the owner's members while the row was missing.
  private func rejoinOwner(of object: ManagedObject, by relationship: RelationshipLayout) {
    guard let owner = object.destination(at: relationship.slot), owner !== object, owner.change != .deleted,
      let back = owner.back(of: relationship)
    else { return }
    let members = owner.members(of: back)
    guard !members.added.contains(object.objectID) else { return }
    members.forgetStored()
    owner.gain(object, in: back)
  }

  /// Points the other end of a one-to-one relationship back to an object being reinserted, because the deletion cleared
  /// it. If others have since related that end to another object, it keeps that one, unless an unsaved change here
  /// related it to this object.
  private func restorePair(_ object: ManagedObject, by relationship: RelationshipLayout) throws {
    guard let other = object.destination(at: relationship.slot), other !== object,
      let back = other.back(of: relationship), other.change == .none || other.change == .updated,
      let store = other.table?.store
    else { return }
    if other.isChanged(at: back.slot), other.presentValue(at: back.slot) == .objectID(object.objectID) { return }
    guard let row = try storedRows(of: [other], in: store)[other.objectID] else { return }
    let partner = other.committedKey(of: back, in: row)
    guard partner == nil || partner == object.key else {
      object.willChange()
      return object.setPending(.null, at: relationship.slot)
    }
    if other.snapshot?.version != row.version { other.rebase(onto: row) }
    guard other.destination(at: back.slot) == nil else { return }
    other.willChange()
    other.setPending(.objectID(object.objectID), at: back.slot)
  }

  /// Whether the store has no row with an identifier.
  func isGone(_ id: ManagedObjectID) throws -> Bool {
    guard let key = id.primaryKey, let layout = layout(named: id.entityName),
      let store = tables(ofStore: id.storeIdentifier)?.store
    else { return false }
    return try store.rows(RowQuery(entity: layout.entity, includesSubentities: false, keys: [key], keysOnly: true))
      .isEmpty
  }

  /// Reverts the deletion of an object, and of the objects that it cascaded to.
  ///
  /// - Parameter restored: The objects whose deletion was reverted. The caller matches their to-one relationships once
  ///   it is known which other objects remain deleted.
  func restore(_ object: ManagedObject, standingOn row: RowSnapshot?, adding restored: inout [ManagedObject]) {
    restored.append(object)
    recordFormerEnds(of: object)
    graph.restore(object, over: row)
    for referrer in object.layout.oneWayReferrers {
      for owner in graph.updated.objects
      where owner.layout.isKind(ofEntityAt: referrer.entityIndex) && !owner.toManys.isEmpty {
        owner.toManys[referrer.slot]?.revertRemoval(of: object.objectID)
      }
    }
    for relationship in object.layout.relationships {
      for id in object.endsInMemory(of: relationship, readingMembers: true) {
        guard let other = registeredObject(for: id), let back = other.back(of: relationship) else { continue }
        if other.change == .deleted, relationship.deleteRule == .cascade {
          restore(other, standingOn: nil, adding: &restored)
        }
        if other.change == .deleted {
          if relationship.isToMany { object.forget(other, in: relationship) }
        } else if back.isToMany {
          guard !other.toManys.isEmpty else { continue }
          recordFormerEnds(of: other)
          other.toManys[back.slot]?.revertRemoval(of: object.objectID)
        } else if other.pending[back.slot] == .null,
          other.committedValue(at: back.slot) == .objectID(object.objectID)
        {
          other.clearPending(at: back.slot)
        } else if relationship.isToMany, other.isChanged(at: back.slot), other.destination(at: back.slot) !== object {
          // A deleted object keeps its members when they get another owner.
          object.forget(other, in: relationship)
        }
      }
    }
  }
}

extension ManagedObject {
  /// Returns the other ends of a relationship that are known without accessing the store.
  fileprivate final func endsInMemory(
    of relationship: RelationshipLayout, readingMembers: Bool = false
  ) -> [ManagedObjectID] {
    guard relationship.isToMany else {
      let unsaved = pending[relationship.slot]
      return [unsaved ?? .null, committedValue(at: relationship.slot)].compactMap { value in
        if case .objectID(let id) = value { id } else { nil }
      }
    }
    if readingMembers { return memberList(of: relationship).identifiers }
    guard !toManys.isEmpty, let members = toManys[relationship.slot] else { return [] }
    return members.list?.identifiers ?? members.added.elements
  }
}
