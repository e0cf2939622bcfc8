/// A context's record of its last merge.
struct LastMerge {
  /// New objects, unless the merge was to leave them unregistered.
  var inserted: Set<ManagedObject> = []
  var deleted: Set<ManagedObject> = []
}
