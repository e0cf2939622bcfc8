/// The unsaved state of a context, restored if a save fails after its conflicts were resolved.
struct UnsavedState {
  private let context: ManagedObjectContext
  private let objects: [Saved]

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
  /// - Parameters:
  ///   - accepted: Objects that a store has accepted since, which remain as they were saved.
  ///   - others: States of other objects, oldest first, of which each object gets its first.
  func restore(except accepted: Set<ObjectIdentifier>, and others: [Saved] = []) {
    let objects = objects.filter { !accepted.contains(ObjectIdentifier($0.object)) }
    var known = Set(objects.map { ObjectIdentifier($0.object) })
    context.graph.resume(objects, keepingOthers: known)
    known.formUnion(accepted)
    for other in others where other.object.table != nil && known.insert(ObjectIdentifier(other.object)).inserted {
      context.graph.resume(other)
    }
  }
}
