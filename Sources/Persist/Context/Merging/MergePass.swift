/// Merges others' saved changes into a context.
///
/// The context's own unsaved changes overlay the saved ones. The cost depends on the saved changes: nothing is read for
/// objects that the context doesn't have, faults are only marked as outdated, and the rows of all others are read
/// together.
final class MergePass: LastMerge {
  // The context runs the pass, and holds it afterward.
  private unowned let context: ManagedObjectContext
  /// Whether objects keep their rows if others have saved a different value for a property changed here, so that the
  /// next save detects the conflict.
  private let leavesConflicts: Bool
  /// The objects that the merge affected.
  private(set) var merged = ObjectsDidChange()
  var deleted: Set<ManagedObject> { merged.deleted }
  /// Objects deleted here whose rows others have changed.
  private var changedSinceDeleted: Set<ManagedObjectID> = []
  /// Objects to read again because others have inserted their rows: objects deleted here whose rows were missing, and
  /// those that had read rows which were deleted in between.
  private var reappeared: Set<ManagedObjectID> = []
  /// The objects that kept their rows.
  private(set) var leftOut: Set<ManagedObjectID> = []

  init(_ context: ManagedObjectContext, leavingConflicts: Bool) {
    self.context = context
    leavesConflicts = leavingConflicts
  }

  /// - Throws: The store's errors.
  func merge(_ changes: SavedChanges) throws {
    let holders = OneWayHolders(in: context)
    for id in changes.deletedObjectIDs { delete(id, holders) }
    // Inserted rows come before the updated owners whose deletion may cascade to them.
    for id in changes.insertedObjectIDs { insert(id) }
    try refresh(changes.updatedObjectIDs.union(reappeared))
    context.removeFromMembersLeftAlone(Array(merged.deleted))
    rejoin(changes.insertedObjectIDs)
    _ = try context.removeAddedOneWayMembersFromStoredOwners()
  }

  /// Ends the merge: from now on, the pass only holds objects that would otherwise be released before the program has
  /// accessed them.
  ///
  /// - Parameter holdsNewObjects: Whether it holds new objects besides deleted ones.
  /// - Returns: The objects that the merge affected.
  func end(holdingNewObjects holdsNewObjects: Bool) -> ObjectsDidChange {
    let all = merged
    if !holdsNewObjects { merged.inserted = [] }
    (merged.refreshed, changedSinceDeleted, reappeared, leftOut) = ([], [], [], [])
    return all
  }

  /// Whether an identifier can refer to an object here. Objects without a row are known only to their context and its
  /// children.
  private func canMean(_ id: ManagedObjectID) -> Bool { !id.isTemporaryID || context.parent != nil }

  private func delete(_ id: ManagedObjectID, _ holders: OneWayHolders) {
    guard canMean(id), let object = context.registeredObject(for: id) else { return }
    // The row of an inserted object is known to be deleted: the next save inserts it again.
    guard object.change != .inserted else { return }
    context.removeDeletedByOthers(object, staysRegistered: true, holders: holders)
    merged.deleted.insert(object)
  }

  private func insert(_ id: ManagedObjectID) {
    guard canMean(id), let object = context.registeredOrFault(id) else { return }
    if object.loading != .missing, object.snapshot != nil || !object.toManys.isEmpty {
      // The row that was read has been deleted and inserted again, unless the insertion was merged before.
      reappeared.insert(id)
      return
    }
    merged.inserted.insert(object)
    // The row may have been looked up before it existed.
    guard object.loading == .missing else { return }
    if object.change == .deleted { reappeared.insert(id) } else { object.forgetRow() }
  }

  /// Relates reinserted rows, whether restored here or by others, to the objects that still refer to them.
  ///
  /// - Parameter inserted: The rows that others inserted.
  private func rejoin(_ inserted: Set<ManagedObjectID>) {
    if !inserted.isEmpty {
      for object in context.graph.updated.objects where object.hasLeftStoredEnd(in: inserted) {
        object.matchToOneEnds()
      }
    }
    for object in context.graph.inserted.objects where object.snapshot != nil { object.forgetLeftMembers() }
  }

  private func refresh(_ ids: Set<ManagedObjectID>) throws {
    var held: [ObjectIdentifier: [ManagedObject]] = Dictionary()
    for id in ids where canMean(id) {
      guard let object = context.registeredObject(for: id), object.change != .inserted else { continue }
      merged.refreshed.insert(object)
      if object.change == .none, object.loading != .loaded {
        object.forgetRow()
      } else if let table = object.table {
        held[ObjectIdentifier(table), default: []].append(object)
      }
    }
    var rebased: [ManagedObject] = []
    for objects in held.values {
      guard let store = objects.first?.table?.store else { continue }
      let rows = try context.storedRows(of: objects, in: store)
      for object in objects { adopt(rows[object.objectID], into: object) }
      rebased += objects
    }
    // Requires that all objects have their new rows.
    for object in rebased {
      if object.change == .deleted { propagateAgain(object) } else { object.matchToOneEnds() }
    }
  }

  /// Propagates a deletion to objects that others have since related to the deleted one.
  private func propagateAgain(_ object: ManagedObject) {
    guard object.table != nil, changedSinceDeleted.contains(object.objectID) else { return }
    for members in object.toManys { members?.forgetOrder() }
    DeletePropagation(in: context).propagateAgain(from: object)
  }

  private func adopt(_ row: RowSnapshot?, into object: ManagedObject) {
    guard let row else {
      context.removeDeletedByOthers(object, staysRegistered: true)
      merged.refreshed.remove(object)
      merged.deleted.insert(object)
      return
    }
    if object.change == .deleted {
      if object.snapshot?.version != row.version { changedSinceDeleted.insert(object.objectID) }
      object.discardStoredValues()
      object.find(row)
    } else if object.loading == .missing {
      object.forgetRow()
    } else if leavesConflicts, object.isOvertaken(by: row) {
      merged.refreshed.remove(object)
      leftOut.insert(object.objectID)
      object.leaveEnds(of: row)
    } else {
      object.rebase(onto: row)
      object.awakeFromSnapshotEvents(.refresh)
    }
  }
}

extension ManagedObject {
  /// Makes an object whose row was deleted reread its members: others may have related more of them to the row.
  fileprivate final func forgetLeftMembers() {
    guard !toManys.isEmpty else { return }
    for relationship in layout.relationships where relationship.isToMany && relationship.leavesOthersAlone {
      guard relationship.inverse?.isToMany == false, !relationship.isTransient else { continue }
      toManys[relationship.slot]?.forgetStored()
    }
  }

  /// Whether an unsaved change replaced the row's reference to one of these objects.
  fileprivate final func hasLeftStoredEnd(in ids: Set<ManagedObjectID>) -> Bool {
    layout.toOnes.contains { relationship in
      guard relationship.inverse != nil, isChanged(at: relationship.slot),
        case .objectID(let id) = committedValue(at: relationship.slot)
      else { return false }
      return ids.contains(id)
    }
  }
}
