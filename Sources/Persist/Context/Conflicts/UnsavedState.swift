/// The unsaved state of a context, restored if a save fails after its conflicts were resolved.
struct UnsavedState {
  private let context: ManagedObjectContext
  private let objects: [Saved]
  /// The number of former ends that the context had noted before.
  private let noteCount: Int

  /// The state of one object.
  struct Saved {
    let object: ManagedObject
    let table: ObjectTable?
    let key: Int64
    let identifier: ManagedObjectID?
    let snapshot: RowSnapshot?
    let pending: SlotValues
    let toManys: ContiguousArray<ToManyMembers?>
    let loading: ManagedObject.Loading
    let change: ManagedObject.Change

    init(_ object: ManagedObject) {
      self.object = object
      table = object.table
      key = object.key
      identifier = object.identifier
      snapshot = object.snapshot
      pending = object.pending
      toManys = ContiguousArray(object.toManys.map { members in members.map { ToManyMembers(copying: $0) } })
      loading = object.loading
      change = object.change
    }
  }

  init(of context: ManagedObjectContext) {
    self.context = context
    noteCount = context.formerEnds?.count ?? 0
    objects = (context.inserted.objects + context.updated.objects + context.deleted.objects).map(Saved.init)
  }

  /// New objects that were merged into other new objects, which have no permanent identifiers yet.
  var absorbed: [(object: ManagedObject, holder: ManagedObject)] {
    objects.compactMap { saved in
      guard saved.change == .inserted, saved.object.table == nil, let id = saved.object.identifier, id.isTemporaryID
      else { return nil }
      return context.registeredObject(for: id).map { (saved.object, $0) }
    }
  }

  /// Restores exactly the recorded unsaved state.
  ///
  /// - Parameter accepted: Objects that a store has accepted since, which remain as they were saved.
  func restore(except accepted: Set<ObjectIdentifier>) {
    let objects = objects.filter { !accepted.contains(ObjectIdentifier($0.object)) }
    var known = Set(objects.map { ObjectIdentifier($0.object) })
    for object in context.updated.objects + context.deleted.objects where !known.contains(ObjectIdentifier(object)) {
      object.discardChanges()
    }
    for object in context.inserted.objects where !known.contains(ObjectIdentifier(object)) {
      object.detach()
      object.change = .none
    }
    context.inserted.removeAll()
    context.updated.removeAll()
    context.deleted.removeAll()
    for saved in objects { restore(saved) }
    known.formUnion(accepted)
    // Unchanged objects that were to be read again still have what they had read, as the others do.
    for note in (context.formerEnds ?? []).dropFirst(noteCount)
    where note.object.table != nil && known.insert(ObjectIdentifier(note.object)).inserted {
      restore(note.state)
    }
  }

  private func restore(_ saved: Saved) {
    let object = saved.object
    if object.table !== saved.table || object.key != saved.key {
      object.detach()
      object.key = saved.key
      object.table = saved.table
      object.noteChangeOfAll()
      if let table = saved.table {
        table.map[saved.key]?.detach()
        table.map.insert(object, key: saved.key)
      }
    }
    object.identifier = saved.identifier
    object.snapshot = saved.snapshot
    object.replacePending(with: saved.pending)
    object.replaceMembers(with: saved.toManys)
    object.loading = saved.loading
    object.change = saved.change
    switch saved.change {
    case .inserted: context.inserted.insert(object)
    case .updated: context.updated.insert(object)
    case .deleted: context.deleted.insert(object)
    case .none: break
    }
  }
}
