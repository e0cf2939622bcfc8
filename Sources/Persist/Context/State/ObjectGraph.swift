/// The state of a context's object graph: which objects are new, changed or deleted, and what each of them has besides
/// its row.
///
/// This folder is the only place that changes it. Each verb of the graph moves an object from one state to another and
/// changes everything that belongs to the state together: its change set, its kind of change, its loading state, its
/// row, its unsaved values, its marks and its indexes. In debug builds, each verb then checks
/// ``ManagedObject/brokenRule``. Everything else reads the state and calls the verbs.
///
/// | verb | from | to |
/// |---|---|---|
/// | ``register(_:in:number:given:)``, ``insert(_:given:)`` | no context | inserted |
/// | ``update(_:)`` | unchanged | updated |
/// | ``updateInsteadOfInserting(_:)`` | inserted | updated |
/// | ``reinsert(_:)`` | unchanged, updated | inserted |
/// | ``delete(_:)`` | unchanged, updated | deleted |
/// | ``delete(_:)`` and ``depart(_:)`` | inserted | no context |
/// | ``absorb(_:into:)`` | inserted | no context |
/// | ``undelete(_:)`` | deleted | updated |
/// | ``restore(_:over:)`` | deleted | unchanged |
/// | ``discardChanges(of:)`` | updated | unchanged |
/// | ``discardAll(notingFormer:)`` | updated, deleted | unchanged |
/// | ``discardAll(notingFormer:)`` | inserted | no context |
/// | ``accept(_:_:in:unsaved:of:)`` | inserted, updated | unchanged |
/// | ``departSaved(_:)`` | deleted | no context |
/// | ``discardDeletedByOthers(_:)`` and ``departAsDeleted(_:)`` | unchanged, updated, deleted | no context |
package final class ObjectGraph {
  // Unchecked: used only within the context's isolation, and changing a set makes no outside calls.
  @exclusivity(unchecked) package private(set) var inserted = ChangeSet()
  @exclusivity(unchecked) package private(set) var updated = ChangeSet()
  @exclusivity(unchecked) package private(set) var deleted = ChangeSet()
  /// The number of events after which rows that were prefetched or read ahead may be outdated.
  private(set) var rowGeneration = 0
  /// Objects that lost unsaved changes or left as new ones; children may have read them before.
  private(set) var formerlyChanged: Set<ManagedObjectID> = []
  /// Objects whose rows the next save checks without writing them.
  private(set) var watched: Set<ManagedObject> = []
  /// Changed objects that weren't reread when an object related to them changed: the next save checks their rows, even
  /// if their own changes are taken back.
  private(set) var uncheckedEnds: Set<ManagedObject> = []
  private var departed = DepartedObjects()
  /// The registered objects.
  let tables = ObjectTables()
  /// The stores assigned to new objects, by the objects' temporary numbers.
  private(set) var assignedStores: [Int64: String] = Dictionary()
  /// The objects held until a reset; none unless the context retains all objects.
  @exclusivity(unchecked) private var retained: [ManagedObject] = []
  /// Whether every registered object is held.
  @exclusivity(unchecked) private(set) var retainsAll = false
  /// The values of new objects. Unchecked: none of its functions calls out to other code.
  @exclusivity(unchecked) var drafts = DraftRows()
  /// Whether child contexts exist, which may have read what is discarded here.
  var hasChildren = false

  /// Whether there is anything to save.
  var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }
  /// A number that changes whenever an object becomes a changed one or stops being one.
  var changeRevision: Int { inserted.revision &+ updated.revision &+ deleted.revision }
  /// New and changed objects: those that can refer to new ones.
  var insertedAndUpdated: [ManagedObject] { inserted.objects + updated.objects }
  /// All objects with unsaved changes.
  var changed: [ManagedObject] { inserted.objects + updated.objects + deleted.objects }
}

/// Single objects.
extension ObjectGraph {
  /// Registers an object without a context as new, under a temporary number.
  ///
  /// - Parameters:
  ///   - table: Not retained, because this is done for each new object: the context does.
  ///   - number: The temporary number that the object has in a child context or had before; nil for a new one.
  ///   - given: The properties that count as set by the program; nil to leave them as they are.
  func register(
    _ object: ManagedObject, in table: Unmanaged<ObjectTable>, number: UInt64?, given: AssignedSlots? = nil
  ) {
    object.join(table, underTemporaryNumber: number)
    object.recordChangeOfAll()
    insert(object, given: given)
  }

  /// Marks a registered object as new: the next save inserts a row for it.
  ///
  /// - Parameter given: The properties that count as set by the program; nil to leave them as they are.
  func insert(_ object: ManagedObject, given: AssignedSlots? = nil) {
    object.loading = .loaded
    if let given { object.given = given }
    object.change = .inserted
    object.enterEventAsNew()
    inserted.insert(object)
    hold(object)
    object.markNewlyChanged()
    check(object)
  }

  /// Marks an unchanged object as changed.
  func update(_ object: ManagedObject) {
    if object.change == .none { object.recordTransientValues() }
    object.change = .updated
    updated.insert(object)
    check(object)
  }

  /// Marks an object as deleted.
  ///
  /// A new object has no row to delete: it must ``depart(_:)`` next, and belongs to no change set until then.
  func delete(_ object: ManagedObject) {
    if !object.isInEvent { object.enterEvent() }
    let isNew = object.change == .inserted
    leaveChangeSet(object)
    object.change = .deleted
    object.markNewlyChanged()
    guard !isNew else { return }
    deleted.insert(object)
    check(object)
  }

  /// Removes a deleted object that has no row from the context.
  func depart(_ object: ManagedObject) {
    object.detach()
    if hasChildren { departed.insert(object) }
    check(object)
  }

  /// Returns the object with an identifier that departed while the context had children, and still has no context.
  func takeDeparted(_ id: ManagedObjectID) -> ManagedObject? { departed.take(id) }

  /// Marks a deleted object, which has a row, as changed. Its relationships aren't restored.
  func undelete(_ object: ManagedObject) {
    if !object.isInEvent { object.enterEvent() }
    deleted.remove(object)
    update(object)
  }

  /// Marks a deleted object as unchanged, with the values of its row.
  ///
  /// - Parameter row: The row to show; nil for the one that the object has.
  func restore(_ object: ManagedObject, over row: RowSnapshot?) {
    if !object.isInEvent { object.enterEvent() }
    deleted.remove(object)
    object.change = .none
    object.replacePending(with: object.formerTransientValues)
    object.replaceMembers(with: [])
    if let row { object.replaceRow(with: row) }
    object.loading = object.snapshot == nil ? .fault : .loaded
    check(object)
  }

  /// Marks an object whose row others deleted as new, under its former key.
  func reinsert(_ object: ManagedObject) {
    object.loading = .loaded
    for members in object.toManys { members?.rebase(onto: []) }
    updated.remove(object)
    object.given = .all
    object.change = .inserted
    inserted.insert(object)
    check(object)
  }

  /// Marks an object that was to be inserted again as changed, because others have inserted its row first. The caller
  /// then gives it that row.
  func updateInsteadOfInserting(_ object: ManagedObject) {
    inserted.remove(object)
    object.change = .updated
    updated.insert(object)
  }

  /// Marks an object as unchanged. The caller then replaces the values and members that it had set, so that the rules
  /// hold again.
  func discardChanges(of object: ManagedObject) {
    leaveChangeSet(object)
    object.change = .none
  }

  /// Marks an object as unchanged because others have deleted its row: a save must not find out again what a merge has.
  func discardDeletedByOthers(_ object: ManagedObject) {
    if !object.isInEvent { object.enterEvent() }
    uncheckedEnds.remove(object)
    discardChanges(of: object)
  }

  /// Removes an object whose row others have deleted from the context, as a deleted one.
  func departAsDeleted(_ object: ManagedObject) {
    object.change = .deleted
    object.detach()
    check(object)
  }

  /// Removes a new object from the context that was merged into another one, whose identifier it has from now on.
  func absorb(_ object: ManagedObject, into holder: ManagedObject) {
    if !object.isInEvent { object.enterEvent() }
    leaveChangeSet(object)
    object.change = .none
    object.detach()
    object.identify(as: holder.objectID)
    check(object)
  }

  /// Makes an object without a context represent the row of another one, which leaves the context, with its unsaved
  /// changes.
  func replace(_ other: ManagedObject, by object: ManagedObject) {
    guard let table = other.table else { return }
    if other.change == .updated { updated.remove(other) }
    object.takeState(of: other)
    other.detach()
    other.replaceMembers(with: [])
    object.table = table
    object.recordChangeOfAll()
    table.insertEntry(of: object, key: object.key)
    if object.change == .updated { updated.insert(object) }
    check(object)
  }

  /// Detaches an object that is registered under the key of another one, which takes its place.
  func detachStale(_ object: ManagedObject) {
    if object.change == .updated { leaveChangeSet(object) }
    object.detach()
  }

  /// Makes the next save check an object's row without writing it.
  func watch(_ object: ManagedObject) { watched.insert(object) }

  /// Makes the next save check the row of a changed object, even if its changes are taken back.
  func watchEnd(_ object: ManagedObject) { uncheckedEnds.insert(object) }

  /// Holds an object if the context retains all of its objects.
  @inline(__always)
  func hold(_ object: ManagedObject) {
    if retainsAll { retained.append(object) }
  }

  /// Assigns the store in which a new object will be saved, instead of the coordinator's choice; nil revokes that.
  func assign(_ object: ManagedObject, toStore identifier: String?) { assignedStores[object.key] = identifier }

  /// Forgets the stores assigned to saved objects.
  func forgetAssignedStores(_ numbers: [Int64]) {
    if !assignedStores.isEmpty { for number in numbers { assignedStores[number] = nil } }
  }

  private func leaveChangeSet(_ object: ManagedObject) {
    switch object.change {
    case .inserted: inserted.remove(object)
    case .updated: updated.remove(object)
    case .deleted: return deleted.remove(object)
    case .none: return object.recordTransientValues()
    }
    if hasChildren { formerlyChanged.insert(object.objectID) }
  }
}

/// All objects.
extension ObjectGraph {
  /// Discards all changes: new objects leave the context.
  ///
  /// - Parameter notingFormer: Whether new objects remain elsewhere that the objects may have referred to: in a parent.
  func discardAll(notingFormer: Bool) {
    if notingFormer {
      if hasChildren { formerlyChanged.formUnion(changed.map(\.objectID)) }
    } else {
      // No new object remains that one of them may have referred to.
      formerlyChanged = []
    }
    uncheckedEnds = []
    let (new, saved) = (inserted.objects, updated.objects + deleted.objects)
    emptyChangeSets()
    for object in saved {
      object.discardChanges()
      check(object)
    }
    for object in new {
      object.detach()
      object.change = .none
      check(object)
    }
  }

  /// Removes all objects from the context. Those that the program still holds become faults without a context.
  func reset(_ tables: [ObjectTable], notingFormer: Bool) {
    if !notingFormer { formerlyChanged = [] } else if hasChildren {
      formerlyChanged.formUnion(changed.map(\.objectID))
    }
    emptyChangeSets()
    retained = []
    (watched, uncheckedEnds) = ([], [])
    for table in tables {
      for object in table.map.objects {
        object.detach()
        object.change = .none
        object.becomeFault()
        check(object)
      }
      table.forgetReadAhead()
    }
  }

  private func emptyChangeSets() {
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    drafts.removeAll()
  }

  /// Marks saved objects as unchanged, except deleted ones.
  func leaveChangeSets(_ saved: SavedObjects) {
    rowGeneration += 1
    inserted.remove(saved.inserted)
    var index: Int32 = 0
    saved.inserted.forEachUnretained { object in
      object.change = .none
      object.changeIndex = index
      index &+= 1
    }
    for objects in [saved.updated, saved.touched, saved.unwritten] {
      updated.remove(objects)
      objects.forEachUnretained { $0.change = .none }
    }
  }

  /// Removes objects from the context whose deletion was saved.
  func departSaved(_ objects: [ManagedObject]) {
    deleted.remove(objects)
    objects.forEachUnretained { object in
      object.detach()
      object.change = .none
      check(object)
    }
  }

  /// Replaces all unsaved changes by recorded ones; objects that had none lose theirs.
  func resume(_ states: [UnsavedState.Saved], keepingOthers known: Set<ObjectIdentifier>) {
    for object in updated.objects + deleted.objects where !known.contains(ObjectIdentifier(object)) {
      object.discardChanges()
    }
    for object in inserted.objects where !known.contains(ObjectIdentifier(object)) {
      object.detach()
      object.change = .none
    }
    inserted.removeAll()
    updated.removeAll()
    deleted.removeAll()
    for state in states { resume(state) }
  }

  /// Gives an object a recorded state.
  func resume(_ state: UnsavedState.Saved) {
    let object = state.object
    object.resume(state)
    switch state.change {
    case .inserted: inserted.insert(object)
    case .updated: updated.insert(object)
    case .deleted: deleted.insert(object)
    case .none: break
    }
    check(object)
  }

  /// Records that others may have changed rows: what was prefetched or read ahead is no longer used.
  func outdateRowsAhead() { rowGeneration += 1 }

  /// Forgets the objects that lost changes: no object is new, so that none can refer to new ones by former identifiers.
  func forgetFormerlyChanged() { formerlyChanged = [] }

  /// Forgets the objects whose rows were to be checked, after a save.
  func forgetWatched() { (watched, uncheckedEnds) = ([], []) }

  /// Holds all objects from now on, or releases them.
  func retainAll(_ retainsAll: Bool, of tables: [ObjectTable]) {
    self.retainsAll = retainsAll
    retained = retainsAll ? tables.flatMap { $0.map.objects } : []
  }
}
