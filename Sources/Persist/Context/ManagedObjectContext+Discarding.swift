import Foundation

extension ManagedObjectContext {
  /// Discards every change since the last save: new objects leave the context, deleted ones are back, changed ones
  /// have what the store has. Nothing of it can be undone, and what was changed before can't either.
  public func rollback() {
    let (new, changed, gone) = (inserted.objects, updated.objects, deleted.objects)
    let discarded = ids(updated: changed + gone, deleted: new)
    for object in [new, changed, gone].joined() where object.eventIndex < 0 { object.enterEvent() }
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    for object in changed + gone { object.discardChanges() }
    for object in new {
      object.detach()
      object.change = .none
    }
    for object in changed + gone { object.awakeFromSnapshotEvents(.rollback) }
    undoKeeper?.removeActions(of: self)
    tellChildren(discarded)
    announce { $0.refreshed.formUnion(changed) }
  }

  /// The news for contexts below, which took in changes of these objects or of a sibling, when they are discarded.
  private func ids(updated: [ManagedObject], deleted: [ManagedObject]) -> SavedChanges {
    guard !children.isEmpty else { return SavedChanges() }
    return SavedChanges(updated: Set(updated.map(\.objectID)), deleted: Set(deleted.map(\.objectID)))
  }

  /// Forgets every object. Objects that the program still holds are faults without a context.
  public func reset() {
    let registered = tracker == nil ? [] : liveObjects
    let discarded = ids(updated: updated.objects + deleted.objects, deleted: inserted.objects)
    tracker?.forgetPendingChanges()
    undoKeeper?.removeActions(of: self)
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    retained = []
    (mergedInsertions, mergedDeletions) = ([], [])
    watchedObjects = []
    for table in tables {
      for object in table.map.objects {
        object.detach()
        object.change = .none
        object.becomeFault()
      }
    }
    tellChildren(discarded)
    announce { $0.invalidatedAll = registered }
  }

  /// Makes an object take its values from the store again.
  ///
  /// - Parameter mergeChanges: true reads the row now and keeps the unsaved changes on top of it; false discards the
  ///   changes, on both sides of relationships, and makes the object a fault.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    guard isRefreshable(object) else { return }
    processTrackedChanges()
    let discarded = ids(updated: mergeChanges ? [] : [object], deleted: [])
    takeStoredValues(of: object, mergeChanges: mergeChanges)
    tellChildren(discarded)
    if mergeChanges { object.awakeFromSnapshotEvents(.refresh) }
    announce { $0.refreshed.insert(object) }
  }

  /// New and deleted objects have no other values than their own.
  private func isRefreshable(_ object: ManagedObject) -> Bool {
    object.table?.context === self && (object.change == .none || object.change == .updated)
  }

  private func takeStoredValues(of object: ManagedObject, mergeChanges: Bool) {
    rowGeneration += 1
    if mergeChanges || object.loading == .missing {
      guard object.change == .updated else { return reread(object) }
      rebase(object)
    } else {
      takeBackRelationshipChanges(of: object)
      if object.keepsOnlyLosses() { return rebase(object) }
      if object.change == .updated {
        updated.remove(object)
        object.change = .none
      }
      object.becomeFault()
    }
  }

  /// Refreshes every object that is alive: unchanged ones become faults, changed ones keep their changes.
  public func refreshAllObjects() {
    mergeArrivedChanges()
    processTrackedChanges()
    let objects = liveObjects.filter(isRefreshable)
    let changed = objects.filter { $0.change == .updated }
    for object in objects where object.change == .none { takeStoredValues(of: object, mergeChanges: false) }
    rowGeneration += 1
    for object in changed { rebase(object, matchesEnds: false) }
    // Only now have all of them their new rows.
    for object in changed { object.matchToOneEnds() }
    announce { $0.refreshed.formUnion(objects) }
  }

  /// Reads the row of an object with unsaved changes, and puts these on top of it.
  private func rebase(_ object: ManagedObject, matchesEnds: Bool = true) {
    guard let store = object.table?.store else { return }
    do {
      guard let row = try storedRows(of: [object], in: store)[object.objectID] else { return object.countAsMissing() }
      object.rebase(onto: row)
      if matchesEnds { object.matchToOneEnds() }
      if object.loading != .loaded { object.awake() }
    } catch {
      deferError(error)
    }
  }

  /// Reads the row of an object without unsaved changes. Values that were set without counting as changes go.
  private func reread(_ object: ManagedObject) {
    let old = object.snapshot
    object.forgetManyToManyViews()
    object.toManys = []
    for stored in object.layout.storedSlots where !object.pending.isEmpty { object.pending[stored.slot] = nil }
    object.snapshot = nil
    let wasFault = object.loading == .fault
    object.loading = .fault
    guard let store = object.table?.store else { return }
    do {
      let query = RowQuery(entity: object.layout.entity, includesSubentities: false, keys: [object.key])
      if let row = try store.rows(query).first {
        object.snapshot = row.snapshot
        object.loading = .loaded
        if let old, let new = row.snapshot { object.forgetViews(changedFrom: old, to: new) }
        object.matchToOneEnds()
        if wasFault { object.awake() }
      } else {
        object.loading = .missing
      }
    } catch {
      deferError(error)
    }
  }

  /// Undoes the changes of an object's relationships, and so those that the other sides got from them.
  private func takeBackRelationshipChanges(of object: ManagedObject) {
    for stored in object.layout.storedSlots where stored.kind == .toOne && object.isChanged(at: stored.slot) {
      object.takeBack(stored)
    }
    for relationship in object.layout.relationships where relationship.isToMany {
      object.takeBackMemberChanges(of: relationship)
    }
  }
}

extension ManagedObject {
  /// Discards all changes but the relationships to deleted objects that the deletions emptied, after
  /// ``takeBack(_:)`` and ``takeBackMemberChanges(of:)`` left these.
  ///
  /// - Returns: whether there are such.
  fileprivate final func keepsOnlyLosses() -> Bool {
    guard change == .updated else { return false }
    let hasLosses =
      layout.toOnes.contains { isChanged(at: $0.slot) } || toManys.contains { $0?.removed.isEmpty == false }
    guard hasLosses else { return false }
    for slot in pending.indices where layout.kinds[slot] != .toOne { pending[slot] = nil }
    for members in toManys { members?.forgetOrder() }
    return true
  }
}
