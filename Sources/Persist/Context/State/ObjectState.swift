/// An object's unsaved changes at one moment, for comparison with a later state.
struct ObjectState {
  let change: ManagedObject.Change
  /// Whether the context didn't have the object: one that was never saved, or whose deletion was saved.
  let isGone: Bool
  let snapshot: RowSnapshot?
  let pending: SlotValues
  /// By property slot; empty if no to-many relationship was used.
  let members: ContiguousArray<ToManyMembers.Changes?>

  init(_ object: ManagedObject) {
    // An object that left its context is deleted in any case: a saved deletion leaves no mark on its object.
    isGone = object.table == nil
    change = isGone ? .deleted : object.change
    snapshot = object.snapshot
    pending = object.pending
    members = object.toManys.isEmpty ? [] : ContiguousArray(object.toManys.map { $0?.changes })
  }

  /// Creates the state of a saved object before any unsaved change.
  init(committed object: ManagedObject) {
    change = .none
    isGone = false
    snapshot = object.snapshot
    pending = object.formerTransientValues
    members = []
  }
}
