import OrderedCollections

/// An object's changes at one moment, for a look back at what happened since.
struct ObjectState {
  let change: ManagedObject.Change
  let snapshot: RowSnapshot?
  let pending: ContiguousArray<StoredValue?>
  /// By property slot; empty where no to-many relationship was used.
  let members: ContiguousArray<ToManyMembers.Changes?>

  init(_ object: ManagedObject) {
    // One that left its context is gone, whatever it was there: a saved deletion leaves no mark on its object.
    change = object.table == nil ? .deleted : object.change
    snapshot = object.snapshot
    pending = object.pending
    members = object.toManys.isEmpty ? [] : ContiguousArray(object.toManys.map { $0?.changes })
  }

  /// The state of a saved object before any change.
  init(committed object: ManagedObject) {
    change = .none
    snapshot = object.snapshot
    pending = []
    members = []
  }
}
