import OrderedCollections

/// What becomes of objects whose rows others deleted, and of deletions of rows that others changed.
extension ManagedObjectContext {
  /// Makes an object whose row others deleted count as deleted. Unsaved relationships to it are given up; what it had
  /// read stays readable.
  ///
  /// - Parameter staysRegistered: whether the object stays the context's for as long as it is held.
  func vanish(_ object: ManagedObject, staysRegistered: Bool = false) {
    leaveChangeSets(object)
    for relationship in object.layout.relationships { leave(object, relationship) }
    DeletePropagation(in: self).clearOneWayReferences(to: object)
    for stored in object.layout.storedSlots where !object.pending.isEmpty { object.pending[stored.slot] = nil }
    object.toManys = []
    if staysRegistered {
      object.change = .none
      object.loading = .missing
    } else {
      object.change = .deleted
      object.detach()
    }
  }

  /// Takes an object out of the other side of one of its relationships, as far as that is in memory.
  private func leave(_ object: ManagedObject, _ relationship: RelationshipLayout) {
    for id in object.endsInMemory(of: relationship) {
      guard let other = registeredObject(for: id), other !== object, let back = other.back(of: relationship) else {
        continue
      }
      if back.isToMany {
        if !other.toManys.isEmpty { other.toManys[back.slot]?.drop(object.objectID) }
        other.letGoOfMember(object, at: back.slot)
      } else if !other.pending.isEmpty, other.pending[back.slot] == .objectID(object.objectID) {
        other.setPending(.null, at: back.slot)
      } else if other.change == .none, other.loading == .loaded {
        noteFormerEnds(of: other)
        other.becomeFault()
      }
    }
  }

  /// Makes an object whose row others deleted one that the next save inserts, under the key that it had.
  ///
  /// It keeps its snapshot, from which the new row gets its version; see ``ManagedObject/insertedVersion``.
  ///
  /// - Throws: the store's errors.
  func reinsert(_ object: ManagedObject) throws {
    noteFormerEnds(of: object)
    if object.eventIndex < 0 { object.enterEvent() }
    for relationship in object.layout.toOnes {
      guard case .objectID(let id) = object.presentValue(at: relationship.slot) else { continue }
      if try isGone(id) {
        leaveGone(id, object, relationship)
      } else if relationship.inverse?.isToMany == false {
        try pairAgain(object, by: relationship)
      }
    }
    for stored in object.layout.storedSlots {
      object.setPending(object.presentValue(at: stored.slot), at: stored.slot)
    }
    object.loading = .loaded
    for members in object.toManys { members?.rebase(onto: []) }
    updated.remove(object)
    object.given = .all
    object.change = .inserted
    inserted.insert(object)
  }

  /// Empties a relationship of an object whose row comes back while that of the other end stays away.
  ///
  /// The other end comes back only for changes of its own. That the object leaves it isn't one: it is read again after
  /// the save, and found to be gone.
  private func leaveGone(_ id: ManagedObjectID, _ object: ManagedObject, _ relationship: RelationshipLayout) {
    if registeredObject(for: id)?.hasPersistentChangedValues == true {
      return object.setToOne(nil, at: relationship.slot)
    }
    object.willChange()
    object.setPending(.null, at: relationship.slot)
  }

  /// Makes the other end of a one-to-one relationship lead to an object whose row comes back: the deletion emptied it.
  /// An end that has another partner by now keeps that one.
  private func pairAgain(_ object: ManagedObject, by relationship: RelationshipLayout) throws {
    guard let other = object.destination(at: relationship.slot), other !== object,
      let back = other.back(of: relationship), other.change == .none || other.change == .updated,
      let store = other.table?.store
    else { return }
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

  private func isGone(_ id: ManagedObjectID) throws -> Bool {
    guard let key = id.primaryKey, let layout = layout(named: id.entityName),
      let store = tables(ofStore: id.storeIdentifier)?.store
    else { return false }
    return try store.rows(RowQuery(entity: layout.entity, includesSubentities: false, keys: [key], keysOnly: true))
      .isEmpty
  }

  /// Takes the deletion of an object back, and those of what it cascaded to.
  func restore(_ object: ManagedObject, standingOn row: RowSnapshot?) {
    noteFormerEnds(of: object)
    if object.eventIndex < 0 { object.enterEvent() }
    deleted.remove(object)
    object.change = .none
    object.pending = []
    object.toManys = []
    if let row { object.snapshot = row }
    object.loading = object.snapshot == nil ? .fault : .loaded
    for relationship in object.layout.relationships {
      for id in object.endsInMemory(of: relationship, readingMembers: true) {
        guard let other = registeredObject(for: id), let back = other.back(of: relationship) else { continue }
        if other.change == .deleted {
          if relationship.deleteRule == .cascade { restore(other, standingOn: nil) }
        } else if back.isToMany {
          if !other.toManys.isEmpty { other.toManys[back.slot]?.takeBackRemoval(of: object.objectID) }
        } else if !other.pending.isEmpty, other.pending[back.slot] == .null,
          other.committedValue(at: back.slot) == .objectID(object.objectID)
        {
          other.pending[back.slot] = nil
        }
      }
    }
  }
}

extension ManagedObject {
  /// Takes an object whose row was deleted out of the members that its delete rules left it among.
  final func leaveMembers() {
    guard let context = table?.context else { return }
    for relationship in layout.relationships where relationship.deleteRule == .noAction {
      guard relationship.inverse?.isToMany == true else { continue }
      for id in endsInMemory(of: relationship) {
        guard let other = context.registeredObject(for: id), let back = other.back(of: relationship) else { continue }
        if !other.toManys.isEmpty { other.toManys[back.slot]?.drop(objectID) }
      }
    }
  }

  /// The version of the row that the next save inserts for a new object.
  ///
  /// A row that comes back must have none that it had before: contexts that still hold the old row would take it for
  /// that. How far the old row got isn't known; a leap is beyond every count of saves between a read and a deletion.
  final var insertedVersion: Int64 { snapshot.map { $0.version + 1 << 20 } ?? 1 }

  /// The other ends of a relationship that are known without a look into the store.
  fileprivate final func endsInMemory(
    of relationship: RelationshipLayout, readingMembers: Bool = false
  ) -> [ManagedObjectID] {
    guard relationship.isToMany else {
      let unsaved = pending.isEmpty ? nil : pending[relationship.slot]
      return [unsaved ?? .null, committedValue(at: relationship.slot)].compactMap { value in
        if case .objectID(let id) = value { id } else { nil }
      }
    }
    if readingMembers { return memberList(of: relationship).identifiers }
    guard !toManys.isEmpty, let members = toManys[relationship.slot] else { return [] }
    return members.list?.identifiers ?? members.added.elements
  }
}
