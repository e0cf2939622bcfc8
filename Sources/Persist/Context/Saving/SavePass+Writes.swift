import Foundation

extension SavePass {
  /// Returns the writes for each store: values, computed without accessing a store except to read missing orders.
  func writes() throws -> [StoreWrites] {
    var plan = Plan(context: context, counts: (inserted.count, updated.count, deleted.count))
    try inserted.forEachUnretained { try plan.insert($0) }
    try updated.forEachUnretained { try plan.update($0) }
    deleted.forEachUnretained { plan.delete($0) }
    for object in context.graph.watched.union(context.graph.uncheckedEnds)
    where object.change == .none || (object.change == .updated && !object.isCheckedBySave) {
      plan.check(object)
    }
    try context.throwDeferredError()
    return plan.stores
  }

  /// The writes being collected.
  private struct Plan {
    private(set) var stores: [StoreWrites] = []
    let context: ManagedObjectContext
    /// The numbers of objects to save.
    private let counts: (inserted: Int, updated: Int, deleted: Int)
    /// Whether there are several stores, so that a relationship could cross stores.
    private let isSpread: Bool
    /// Whether the writes are for a parent context, which also takes the values of transient attributes.
    private let isForParent: Bool
    /// Whether objects were assigned to stores by the application.
    private let assignsStores: Bool
    /// The index in ``stores`` for new objects, by entity index.
    private var insertIndexes: [Int?] = []
    /// The tables of the last object with a row, and their index in ``stores``: most objects belong to the same store.
    private var lastStore: (tables: ObjectIdentifier, index: Int)?
    private var slots = ChangedSlots()

    init(context: ManagedObjectContext, counts: (inserted: Int, updated: Int, deleted: Int)) {
      self.context = context
      self.counts = counts
      isSpread = context.persistentStoreCoordinator.storeCount > 1
      isForParent = context.parent != nil
      assignsStores = !context.graph.assignedStores.isEmpty
    }

    mutating func insert(_ object: ManagedObject) throws {
      let indexOfRow = self.storeIndex(of: object)
      let storeIndex = try indexOfRow ?? storeIndexForInsert(of: object)
      let row = object.isDraft && !isForParent ? object.row : nil
      let values = row != nil && !object.hasLooseValues ? SlotValues() : try insertedValues(of: object, at: storeIndex)
      stores[storeIndex].objects.inserted.append(object)
      stores[storeIndex].rows.inserts.append(
        RowWrites.Insert(
          key: indexOfRow == nil ? .temporary(UInt64(bitPattern: object.key)) : object.writtenKey,
          entity: object.entity, values: values, row: row, version: object.insertedVersion))
      try relate(object, at: storeIndex)
    }

    /// Returns the values of a new object that aren't in a row that is written, in the form to be written.
    private func insertedValues(of object: ManagedObject, at storeIndex: Int) throws -> SlotValues {
      let layout = object.layout
      var values = isForParent ? object.pending : object.looseValues
      if !isForParent { for slot in layout.transientSlots { values.remove(at: slot) } }
      for relationship in layout.toOnes {
        guard let value = values[relationship.slot], !value.isNull else { continue }
        let written = try reference(value, of: object, by: relationship, in: stores[storeIndex].tables)
        // Changed only if the destination is deleted or was saved before; otherwise the object's values are shared.
        if written != value { values[relationship.slot] = written.isNull ? nil : written }
      }
      return values
    }

    mutating func update(_ object: ManagedObject) throws {
      guard let storeIndex = storeIndex(of: object) else { return }
      var values = object.pending
      slots.begin()
      for slot in values.slots where object.isChanged(at: slot) {
        slots.append(slot)
        guard let relationship = object.toOneRelationship(at: slot) else { continue }
        let value = values[slot] ?? .null
        let written = try reference(value, of: object, by: relationship, in: stores[storeIndex].tables)
        // Changed only if the destination is deleted or was saved before; otherwise the object's values are shared.
        if written != value || written.isNull { values[slot] = written.isNull ? nil : written }
      }
      if isForParent { for slot in object.layout.transientSlots where values.contains(slot) { slots.append(slot) } }
      guard let version = object.snapshotVersion, !slots.isEmpty || object.hasChangedMembers else {
        stores[storeIndex].objects.unwritten.append(object)
        return
      }
      if slots.isEmpty, object.hasIndependentMembers {
        stores[storeIndex].objects.touched.append(object)
        stores[storeIndex].rows.touches.append(
          RowWrites.RowVersion(key: object.writtenKey, entity: object.entity, version: version))
        return try relate(object, at: storeIndex)
      }
      stores[storeIndex].objects.updated.append(object)
      stores[storeIndex].rows.updates.append(
        RowWrites.Update(
          key: object.writtenKey, entity: object.entity, version: version, slots: slots.all, values: values))
      try relate(object, at: storeIndex)
    }

    mutating func delete(_ object: ManagedObject) {
      guard let storeIndex = storeIndex(of: object) else { return }
      stores[storeIndex].objects.deleted.append(object)
      guard let version = object.snapshotVersion, object.loading != .missing else { return }
      stores[storeIndex].rows.deletes.append(
        RowWrites.RowVersion(key: object.writtenKey, entity: object.entity, version: version))
      if isForParent { endRelationships(of: object, at: storeIndex) }
    }

    /// Ends the relationships of a deleted object that it had left before its deletion: in a parent, its delete rules
    /// must not reach their former ends. Those that it had entered instead have already been given up or deleted, and
    /// their objects may have other partners since.
    private mutating func endRelationships(of object: ManagedObject, at storeIndex: Int) {
      let entity = object.layout.entity
      let slots = object.layout.relationships.filter { !$0.isToMany }.map(\.slot)
        .filter { object.isChanged(at: $0) || object.isChangedTransient(at: $0) }
      if !slots.isEmpty {
        stores[storeIndex].rows.endings.append(RowWrites.Ending(key: object.writtenKey, entity: entity, slots: slots))
      }
      guard !object.toManys.isEmpty else { return }
      for relationship in object.layout.relationships where relationship.isToMany && !relationship.isTransient {
        // Members with an inverse to-one relationship have written that.
        guard relationship.inverse?.isToMany != false, let removed = object.toManys[relationship.slot]?.removed,
          !removed.isEmpty
        else { continue }
        stores[storeIndex].rows.links.append(
          RowWrites.Link(
            owner: object.objectID, entity: entity, slot: relationship.slot, added: [], removed: Array(removed)))
      }
    }

    mutating func check(_ object: ManagedObject) {
      guard let storeIndex = storeIndex(of: object), let snapshot = object.snapshot else { return }
      stores[storeIndex].rows.checks.append(
        RowWrites.RowVersion(key: object.writtenKey, entity: object.entity, version: snapshot.version))
    }

    /// Adds the links and orders of an object's to-many relationships.
    private mutating func relate(_ object: ManagedObject, at storeIndex: Int) throws {
      guard object.extras != nil, !object.toManys.isEmpty else { return }
      for relationship in object.layout.relationships where relationship.isToMany && !relationship.isTransient {
        guard let members = object.toManys[relationship.slot], members.hasChanges else { continue }
        if stores[storeIndex].tracksHistory, object.snapshot != nil {
          stores[storeIndex].rows.changedMembers.append(
            RowWrites.ChangedMembers(key: object.writtenKey, entity: object.entity, slot: relationship.slot))
        }
        // Rereads the members, so that one that others have already positioned isn't moved to the end.
        if members.mayOverlapStored, relationship.isOrdered { _ = object.memberIDs(of: relationship) }
        if relationship.writesLinks {
          let owner = object.objectID
          let added = members.added.filter { writesLink(from: owner, to: $0, by: relationship) && isKept($0) }
          let removed = members.removed.filter { writesLink(from: owner, to: $0, by: relationship) && isKept($0) }
          for id in added {
            try requireSameStore(id, as: stores[storeIndex].tables, of: object, property: relationship.name)
          }
          if !added.isEmpty || !removed.isEmpty {
            stores[storeIndex].rows.links.append(
              RowWrites.Link(
                owner: owner, entity: object.entity, slot: relationship.slot, added: Array(added),
                removed: Array(removed)))
          }
        }
        if relationship.isOrdered, members.isReordered || !members.added.isEmpty {
          let order = members.isReordered ? object.memberIDs(of: relationship) : members.added
          stores[storeIndex].rows.orderings.append(
            RowWrites.Ordering(
              owner: object.objectID, entity: object.entity, slot: relationship.slot,
              members: Array(order.filter(isKept)), isWhole: members.isReordered))
        }
      }
    }

    /// Whether the owner writes the link. A relationship that is its own inverse changes on both ends, but one of them
    /// writes.
    private func writesLink(
      from owner: ManagedObjectID, to member: ManagedObjectID, by relationship: RelationshipLayout
    ) -> Bool {
      guard relationship.isOwnInverse else { return true }
      switch (owner.key, member.key) {
      case (.permanent(let owner), .permanent(let member)): return owner <= member
      case (.temporary(let owner), .temporary(let member)): return owner <= member
      case (.permanent, .temporary): return true
      case (.temporary, .permanent): return false
      }
    }

    /// Whether a member will have a row after the save.
    private func isKept(_ id: ManagedObjectID) -> Bool {
      let object = id.isTemporaryID ? context.registeredOrFault(id) : context.registeredObject(for: id)
      guard let object else { return !id.isTemporaryID }
      return object.change != .deleted && object.loading != .missing
    }

    /// Returns the value of a to-one relationship in the form to be written.
    private func reference(
      _ value: StoredValue, of object: ManagedObject, by relationship: RelationshipLayout, in tables: StoreTables
    ) throws -> StoredValue {
      guard case .objectID(let id) = value else { return value }
      // A deleted object that was never saved reads as nil, and is written as such.
      if id.isTemporaryID, context.registeredOrFault(id) == nil { return .null }
      // An object whose row is gone is written as nil, too, unless its delete rule leaves references to it alone.
      if try isGone(id, by: relationship) {
        object.recordChange(at: relationship.slot)
        object.setLoose(.null, at: relationship.slot)
        return .null
      }
      try requireSameStore(id.current, as: tables, of: object, property: relationship.name)
      return id.current.isTemporaryID ? value : .objectID(id.current)
    }

    /// Whether a relationship can't refer to an object because it has no row, or this save deletes the row.
    private func isGone(_ id: ManagedObjectID, by relationship: RelationshipLayout) throws -> Bool {
      guard relationship.inverse != nil, let end = context.registeredObject(for: id) else { return false }
      if end.change == .deleted || end.loading == .missing { return !relationship.mayOutlast(end) }
      // When a relationship changes, both its ends count as changed, and the store would notice a missing row. This end
      // no longer counts as changed, so its row is looked up here.
      guard end.change == .none, !id.isTemporaryID else { return false }
      return try context.isGone(id.current)
    }

    private func requireSameStore(
      _ id: ManagedObjectID, as tables: StoreTables, of object: ManagedObject, property: String
    ) throws {
      let identifier: String
      if id.isTemporaryID {
        guard isSpread, let other = context.registeredObject(for: id) else { return }
        identifier = try other.table?.siblings?.identifier ?? context.storeForInsert(of: other).identifier
      } else {
        identifier = id.storeIdentifier
      }
      guard identifier != tables.identifier else { return }
      throw PersistenceError(
        .saveFailed, at: .property(object.layout.entity.name, property),
        "'\(property)' leads to \(ValueWords.object(id)), which is in another store.",
        fix: "Relationships can't cross stores: keep both objects in one, or store the other's URI in an attribute.")
    }

    private mutating func storeIndexForInsert(of object: ManagedObject) throws -> Int {
      let index = object.withLayout { $0.index }
      if !assignsStores, insertIndexes.indices.contains(index), let storeIndex = insertIndexes[index] {
        return storeIndex
      }
      let layout = object.layout
      if assignsStores, context.graph.assignedStores[object.key] != nil {
        return storeIndex(of: context.tables(of: try context.storeForInsert(of: object)))
      }
      if insertIndexes.isEmpty { insertIndexes = Array(repeating: nil, count: context.layouts.count) }
      if let storeIndex = insertIndexes[layout.index] { return storeIndex }
      let store = try context.persistentStoreCoordinator.storeForInsert(of: layout.entity)
      let storeIndex = storeIndex(of: context.tables(of: store))
      insertIndexes[layout.index] = storeIndex
      return storeIndex
    }

    /// Returns the index in ``stores`` for an object with a row; nil for one that was never saved.
    private mutating func storeIndex(of object: ManagedObject) -> Int? {
      let tables = object.tableReference?._withUnsafeGuaranteedRef { $0.siblings.map(ObjectIdentifier.init) }
      guard let tables else { return nil }
      if let lastStore, tables == lastStore.tables { return lastStore.index }
      guard let tables = object.table?.siblings else { return nil }
      let storeIndex = storeIndex(of: tables)
      lastStore = (ObjectIdentifier(tables), storeIndex)
      return storeIndex
    }

    private mutating func storeIndex(of tables: StoreTables) -> Int {
      if let index = stores.firstIndex(where: { $0.tables === tables }) { return index }
      var store = StoreWrites(tables: tables)
      if !isSpread { store.reserve(counts) }
      if !isForParent {
        store.rows.origin = context.historyOrigin
        store.tracksHistory = tables.origin.history?.isTracking == true
      }
      stores.append(store)
      return stores.count - 1
    }
  }
}

/// The slots that one object after another has changed. Objects with the same changed slots share one array.
private struct ChangedSlots {
  private var slots: [Int] = []
  private var count = 0

  /// Forgets the slots of the last object.
  mutating func begin() { count = 0 }

  mutating func append(_ slot: Int) {
    if count == slots.count || slots[count] != slot { slots = slots.prefix(count) + [slot] }
    count += 1
  }

  var isEmpty: Bool { count == 0 }

  var all: [Int] {
    mutating get {
      if count < slots.count { slots.removeLast(slots.count - count) }
      return slots
    }
  }
}

extension ManagedObject {
  /// The to-one relationship with a slot; nil for any other property.
  fileprivate final func toOneRelationship(at slot: Int) -> RelationshipLayout? {
    withLayout { $0.kinds[slot] == .toOne ? $0.relationshipsBySlot[slot] : nil }
  }

  /// The key under which the object's row is written. It avoids creating an identifier, which costs an allocation per
  /// object.
  fileprivate final var writtenKey: ManagedObjectID.Key {
    key < 0 ? .temporary(UInt64(bitPattern: -key)) : .permanent(key)
  }
}
