/// A child's save: its writes become unsaved changes of the parent, all or none.
extension ParentRows {
  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    let targets = try targets(of: writes)
    // Each save of a child is a separate event, so that it can be undone separately.
    parent.endEvent()
    for ending in writes.endings {
      guard let object = targets[id(of: ending.key, ending.entity)], object.change != .deleted else { continue }
      for slot in ending.slots { set(.null, at: slot, of: object) }
    }
    let inserted = try writes.inserts.map(insert)
    for (insert, object) in zip(writes.inserts, inserted) { set(insert.values, of: object) }
    for update in writes.updates {
      guard let object = targets[id(of: update.key, update.entity)], object.change != .deleted,
        object.loading != .missing
      else { continue }
      for slot in update.slots { set(update.values[slot] ?? .null, at: slot, of: object) }
    }
    for link in writes.links { relate(link) }
    for ordering in writes.orderings { arrange(ordering) }
    for delete in writes.deletes {
      if let object = targets[id(of: delete.key, delete.entity)], object.change != .deleted { parent.delete(object) }
    }
    parent.endEvent()
    // The objects keep their keys in the child even if the parent deletes them at once, as a hook may do.
    return CommitReceipt(insertedKeys: writes.inserts.map { id(of: $0.key, $0.entity).rowKey })
  }

  /// Returns the parent's objects that the writes change or delete, with their rows.
  ///
  /// For objects that the parent already has, conflicts are detected by the parent's own save. A row that is read only
  /// now must be the one that the child had read.
  ///
  /// - Throws: ``RowConflicts`` if the parent no longer has an object, or others have changed a row meanwhile.
  private func targets(of writes: RowWrites) throws -> [ManagedObjectID: ManagedObject] {
    var targets: [ManagedObjectID: ManagedObject] = Dictionary()
    let ids =
      writes.updates.map { id(of: $0.key, $0.entity) }
      + (writes.touches + writes.deletes + writes.checks).map { id(of: $0.key, $0.entity) }
    for id in ids { targets[id] = parent.registeredOrFault(id) }
    let unread = targets.values.filter { $0.loading == .fault && $0.snapshot == nil }
    try parent.readRows(of: unread)
    let justRead = Set(unread.map(\.objectID))
    func conflict(
      _ id: ManagedObjectID, of entity: Entity, version: Int64?, mayBeGone: Bool, mayBeNewer: Bool = false
    ) -> RowConflict? {
      guard let object = targets[id], object.change != .deleted, object.loading != .missing,
        object.hasNoRow || object.snapshot != nil
      else {
        return mayBeGone ? nil : RowConflict(id: id, entity: entity, expectedVersion: version ?? 0, storedVersion: nil)
      }
      guard !mayBeNewer, justRead.contains(id), let version, let stored = object.snapshot?.version, stored != version
      else { return nil }
      return RowConflict(id: id, entity: entity, expectedVersion: version, storedVersion: stored)
    }
    let conflicts =
      writes.updates.compactMap {
        conflict(id(of: $0.key, $0.entity), of: $0.entity, version: $0.version, mayBeGone: false)
      }
      + writes.checks.compactMap {
        conflict(id(of: $0.key, $0.entity), of: $0.entity, version: $0.version, mayBeGone: false)
      }
      + writes.touches.compactMap {
        conflict(id(of: $0.key, $0.entity), of: $0.entity, version: $0.version, mayBeGone: false, mayBeNewer: true)
      }
      + writes.deletes.compactMap {
        conflict(id(of: $0.key, $0.entity), of: $0.entity, version: $0.version, mayBeGone: true)
      }
    if !conflicts.isEmpty { throw RowConflicts(conflicts: conflicts) }
    return targets
  }

  private func id(of key: ManagedObjectID.Key, _ entity: Entity) -> ManagedObjectID {
    switch key {
    case .permanent: ManagedObjectID(entityName: entity.name, storeIdentifier: identifier, key: key)
    case .temporary: ManagedObjectID(entityName: entity.name, storeIdentifier: "", key: key)
    }
  }

  /// Inserts an object into the parent, with the number that it has in the child. Its insertion hook runs before its
  /// values are set.
  ///
  /// An object with a permanent key got it before its first save, or is an object whose row was deleted and which the
  /// child keeps.
  private func insert(_ insert: RowWrites.Insert) throws -> ManagedObject {
    let layout = parent.layout(of: insert.entity)
    if let object = parent.graph.takeDeparted(id(of: insert.key, insert.entity)),
      parent.registeredObject(for: object.objectID) == nil
    {
      parent.reregisterEmpty(object)
      assignStore(of: object)
      return object
    }
    if case .permanent(let key) = insert.key, insert.isOfFormerRow {
      let isKnown = parent.registeredObject(ofRow: key, layout, in: tables) != nil
      let object = parent.registeredOrFault(layout, key: key, in: tables)
      if object.change == .deleted { parent.bringBack(object) }
      guard object.change != .inserted else { return object }
      if !isKnown { object.enterEventAsNew() }
      // An object that others deleted keeps the values that it had read.
      if object.loading == .missing { object.countAsMissing() }
      if object.snapshot == nil { try parent.readRows(of: [object]) }
      if object.snapshot == nil {
        object.loseRow()
        try parent.reinsert(object)
      }
      return object
    }
    let type = parent.managedObjectClass(of: layout)
    let object = type.init(ManagedObject.Origin(looseOf: type, layout, in: parent))
    switch insert.key {
    case .temporary(let number):
      parent.register(object, number: number)
      assignStore(of: object)
    case .permanent(let key):
      parent.register(object)
      parent.move(object, to: tables.table(for: layout), key: key)
    }
    object.awakeFromInsert()
    return object
  }

  /// Assigns a new object to this store, unless that is where it is inserted anyway.
  private func assignStore(of object: ManagedObject) {
    guard object.table?.isTemporary == true else { return }
    let isDefault =
      parent.persistentStoreCoordinator.storeCount == 1 || (try? parent.storeForInsert(of: object)) === store
    if !isDefault { parent.graph.assign(object, toStore: identifier) }
  }

  private func set(_ values: SlotValues, of object: ManagedObject) {
    for slot in object.layout.kinds.indices { set(values[slot] ?? .null, at: slot, of: object) }
  }

  /// Sets a value that differs. The other side of a relationship follows, even if the child hasn't read it.
  @inline(never)
  private func set(_ value: StoredValue, at slot: Int, of object: ManagedObject) {
    switch object.layout.kinds[slot] {
    case .attribute, .composite: if object.presentValue(at: slot) != value { object.setAttributeValue(value, at: slot) }
    case .toOne: if object.presentValue(at: slot) != value { object.setToOne(self.object(value), at: slot) }
    case .transient where object.layout.relationshipsBySlot[slot] != nil:
      object.setToOne(self.object(value), at: slot)
    case .transient:
      if object.presentValue(at: slot) != value { object.setAttributeValue(value, at: slot) }
    case .toMany, .transientToMany, .fetched: break
    }
  }

  private func object(_ value: StoredValue) -> ManagedObject? {
    if case .objectID(let id) = value { parent.registeredOrFault(id) } else { nil }
  }

  /// Applies the additions and removals of a many-to-many relationship, without reading the other members.
  private func relate(_ link: RowWrites.Link) {
    guard let owner = parent.registeredOrFault(link.owner), owner.change != .deleted,
      let relationship = owner.layout.relationshipsBySlot[link.slot]
    else { return }
    for id in link.added {
      if let member = parent.registeredOrFault(id), member.change != .deleted {
        owner.addUnreadMember(member, of: relationship)
      }
    }
    for id in link.removed {
      if let member = parent.registeredOrFault(id) { owner.removeUnreadMember(member, of: relationship) }
    }
  }

  /// Arranges the members that the child has in its order; others keep their positions.
  private func arrange(_ ordering: RowWrites.Ordering) {
    guard let owner = parent.registeredOrFault(ordering.owner), owner.change != .deleted,
      let relationship = owner.layout.relationshipsBySlot[ordering.slot]
    else { return }
    let present = owner.memberIDs(of: relationship)
    guard ordering.isWhole else {
      let last = OrderedSet(ordering.members).intersection(present)
      return order(owner, in: relationship, by: present.subtracting(last).union(last))
    }
    let known = OrderedSet(ordering.members).intersection(present)
    order(owner, in: relationship, by: OrderedSet(OrderPlaces.arranged(known, among: present)))
  }

  private func order(
    _ owner: ManagedObject, in relationship: RelationshipLayout, by members: OrderedSet<ManagedObjectID>
  ) {
    guard members != owner.memberIDs(of: relationship) else { return }
    owner.willChangeMembers()
    owner.members(of: relationship).replace(with: members)
  }
}

extension ManagedObject {
  /// Adds a member on both sides as a difference, whether or not the members are read.
  fileprivate func addUnreadMember(_ other: ManagedObject, of relationship: RelationshipLayout) {
    recordMember(other, of: relationship) { owner, member, side in
      let members = owner.members(of: side)
      if members.contains(member.objectID) ?? members.added.contains(member.objectID) { return }
      owner.gain(member, in: side)
    }
  }

  /// Removes a member on both sides as a difference, whether or not the members are read.
  fileprivate func removeUnreadMember(_ other: ManagedObject, of relationship: RelationshipLayout) {
    recordMember(other, of: relationship) { owner, member, side in
      let members = owner.members(of: side)
      if members.contains(member.objectID) == false { return }
      if members.removed.contains(member.objectID) { return }
      owner.forget(member, in: side)
    }
  }

  private func recordMember(
    _ other: ManagedObject, of relationship: RelationshipLayout,
    _ visit: (ManagedObject, ManagedObject, RelationshipLayout) -> Void
  ) {
    visit(self, other, relationship)
    guard let back = other.back(of: relationship), !(other === self && relationship.isOwnInverse) else { return }
    visit(other, self, back)
  }
}
