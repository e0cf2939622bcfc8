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
    objects = context.graph.changed.map(Saved.init)
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
    context.graph.resume(objects, keepingOthers: known)
    known.formUnion(accepted)
    // Unchanged objects that were to be read again still have what they had read, as the others do.
    for note in (context.formerEnds ?? []).dropFirst(noteCount)
    where note.object.table != nil && known.insert(ObjectIdentifier(note.object)).inserted {
      context.graph.resume(note.state)
    }
  }
}
