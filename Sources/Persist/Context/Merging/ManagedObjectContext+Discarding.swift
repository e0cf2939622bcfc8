import Foundation

extension ManagedObjectContext {
  /// Discards every change since the last save: inserted objects leave the context, deleted ones are restored, changed
  /// ones get their stored values, and the values of transient attributes from before the changes. Neither the rollback
  /// nor the changes before it can be undone.
  public func rollback() {
    observedChanges.begin()
    defer { observedChanges.end() }
    let (new, changed, gone) = (graph.inserted.objects, graph.updated.objects, graph.deleted.objects)
    let discarded = ids(updated: changed + gone, deleted: new)
    for object in [new, changed, gone].joined() where !object.isInEvent { object.enterEvent() }
    oneWay.forgetChanges(keepingTaken: true)
    graph.discardAll(notingFormer: parent != nil)
    returnTakenMembers()
    for object in changed + gone { object.awakeFromSnapshotEvents(.rollback) }
    changeRecorder?.removeActions(of: self)
    notifyChildren(discarded)
    announce { $0.refreshed.formUnion(changed) }
  }

  /// Returns the discarded changes as reported to child contexts, which may have read changes made here or saved by a
  /// sibling.
  private func ids(updated: [ManagedObject], deleted: [ManagedObject]) -> SavedChanges {
    guard !children.isEmpty else { return SavedChanges() }
    return SavedChanges(updated: Set(updated.map(\.objectID)), deleted: Set(deleted.map(\.objectID)))
  }

  /// Releases every object. Objects that the program still holds become faults without a context.
  public func reset() {
    observedChanges.begin()
    defer { observedChanges.end() }
    let registered = tracker == nil ? [] : liveObjects
    let discarded = ids(updated: graph.updated.objects + graph.deleted.objects, deleted: graph.inserted.objects)
    tracker?.forgetPendingChanges()
    changeRecorder?.removeActions(of: self)
    lastMerge = nil
    oneWay.forgetChanges()
    graph.reset(tables, notingFormer: parent != nil)
    if graph.tables.releaseReplaced(open: persistentStoreCoordinator.openStores) { graph.outdateRowsAhead() }
    advanceQueryGeneration()
    notifyChildren(discarded)
    announce { $0.invalidatedAll = registered }
  }

  /// Reloads an object's values from the store.
  ///
  /// If others have deleted the row, the object counts as deleted, and its unsaved changes are discarded, as when the
  /// deletion is merged.
  ///
  /// A new object, which has no row, remains new. Without merging, it loses the values that the program has set, and is
  /// a fault with the initial values of its class and the model.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - mergeChanges: If true, reads the row now and reapplies the unsaved changes; if false, discards the changes, on
  ///     both sides of relationships, and turns the object into a fault.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    if !mergeChanges, object.change == .inserted, object.table?.context === self { return restoreInitialValues(object) }
    guard isRefreshable(object) else { return }
    observedChanges.begin()
    defer { observedChanges.end() }
    processTrackedChanges()
    let discarded = ids(updated: mergeChanges ? [] : [object], deleted: [])
    adoptStoredValues(of: object, mergeChanges: mergeChanges)
    notifyChildren(discarded)
    if mergeChanges { object.awakeFromSnapshotEvents(.refresh) }
    announce { $0.refreshed.insert(object) }
  }

  private func restoreInitialValues(_ object: ManagedObject) {
    observedChanges.begin()
    defer { observedChanges.end() }
    processTrackedChanges()
    revertRelationshipChanges(of: object)
    object.restoreInitialValues()
    notifyChildren(ids(updated: [object], deleted: []))
    announce { $0.refreshed.insert(object) }
  }

  /// Whether an object can be refreshed. New and deleted objects have only their own values.
  private func isRefreshable(_ object: ManagedObject) -> Bool {
    object.table?.context === self && (object.change == .none || object.change == .updated)
  }

  private func adoptStoredValues(of object: ManagedObject, mergeChanges: Bool) {
    graph.outdateRowsAhead()
    if mergeChanges || object.loading == .missing {
      guard object.change == .updated else { return reread(object) }
      rebase(object)
    } else {
      revertRelationshipChanges(of: object)
      if object.keepsOnlyLosses() { return rebase(object) }
      if object.change == .updated { graph.discardChanges(of: object) }
      object.becomeFault()
    }
  }

  /// Refreshes every live object: unchanged ones become faults; changed ones keep their changes, unless others have
  /// deleted their rows.
  public func refreshAllObjects() {
    observedChanges.begin()
    defer { observedChanges.end() }
    mergeArrivedChanges()
    processTrackedChanges()
    advanceQueryGeneration()
    let objects = liveObjects.filter(isRefreshable)
    let changed = objects.filter { $0.change == .updated }
    for object in objects where object.change == .none { adoptStoredValues(of: object, mergeChanges: false) }
    graph.outdateRowsAhead()
    for object in changed { rebase(object, matchesEnds: false) }
    // Requires that all objects have their new rows.
    for object in changed { object.matchToOneEnds() }
    announce { $0.refreshed.formUnion(objects) }
  }

  /// Rereads the rows of outdated objects and merges them into the objects. An error is deferred.
  ///
  /// The merge is an event of its own. A change that causes it belongs to the current event, which continues afterward.
  func adoptNewerRows(of objects: [ManagedObject]) {
    guard !objects.isEmpty else { return }
    let interrupted = tracker?.takeEntries() ?? []
    defer { tracker?.resume(interrupted) }
    do {
      let pass = MergePass(self, leavingConflicts: false)
      try pass.merge(SavedChanges(updated: Set(objects.map(\.objectID))))
      announce { announced in
        announced.deleted.formUnion(pass.merged.deleted)
        announced.refreshed.formUnion(pass.merged.refreshed)
      }
    } catch {
      deferError(error)
    }
  }

  /// Reads the row of an object with unsaved changes, and reapplies the changes.
  private func rebase(_ object: ManagedObject, matchesEnds: Bool = true) {
    guard let store = object.table?.store else { return }
    do {
      guard let row = try storedRows(of: [object], in: store)[object.objectID] else {
        return removeDeletedByOthers(object, staysRegistered: true)
      }
      object.rebase(onto: row)
      if matchesEnds { object.matchToOneEnds() }
      if object.loading != .loaded { object.awake() }
    } catch {
      deferError(error)
    }
  }

  /// Reads the row of an object without unsaved changes. Values that were set without counting as changes are lost.
  private func reread(_ object: ManagedObject) {
    let old = object.snapshot
    object.forgetManyToManyViews()
    for stored in object.layout.storedSlots { object.clearPending(at: stored.slot) }
    let wasFault = object.loading == .fault
    object.forgetRow()
    guard let store = object.table?.store else { return }
    do {
      let query = RowQuery(entity: object.layout.entity, includesSubentities: false, keys: [object.key])
      if let row = try store.rows(query).first {
        object.load(row.snapshot)
        if let old, let new = row.snapshot { object.forgetViews(changedFrom: old, to: new) }
        object.matchToOneEnds()
        if wasFault { object.awake() }
      } else {
        object.loseRow()
      }
    } catch {
      deferError(error)
    }
  }

  /// Reverts the changes of an object's relationships, including those on the other sides.
  private func revertRelationshipChanges(of object: ManagedObject) {
    for stored in object.layout.storedSlots where stored.kind == .toOne && object.isChanged(at: stored.slot) {
      object.revert(stored)
    }
    for relationship in object.layout.relationships where relationship.isToMany {
      object.revertMemberChanges(of: relationship)
    }
  }
}

extension ManagedObject {
  /// Discards all changes except relationships that were emptied by deletions, which ``revert(_:)`` and
  /// ``revertMemberChanges(of:where:)`` preserve.
  ///
  /// - Returns: Whether there are such relationships.
  fileprivate final func keepsOnlyLosses() -> Bool {
    guard change == .updated else { return false }
    let hasLosses =
      layout.toOnes.contains { isChanged(at: $0.slot) } || toManys.contains { $0?.removed.isEmpty == false }
    guard hasLosses else { return false }
    for slot in pending.slots where layout.kinds[slot] != .toOne { clearPending(at: slot) }
    for members in toManys { members?.forgetOrder() }
    return true
  }
}
