/// What changed in a context since its pending changes were processed before.
///
/// The objects belong to the context, and so does this value: it stays within the context's isolation.
public struct ObjectsDidChange {
  /// Objects that are new in the context: made, brought back after a deletion, or merged from another context's save.
  public internal(set) var inserted: Set<ManagedObject> = []
  /// Objects whose properties were set, new ones from before included.
  public internal(set) var updated: Set<ManagedObject> = []
  /// Objects that were deleted, or that were new and are forgotten.
  public internal(set) var deleted: Set<ManagedObject> = []
  /// Objects that took their values from the store again.
  public internal(set) var refreshed: Set<ManagedObject> = []
  /// Objects that have no values any more, because their store is gone.
  public internal(set) var invalidated: Set<ManagedObject> = []
  /// The objects that were registered when the context was reset; empty but for a reset.
  public internal(set) var invalidatedAll: Set<ManagedObject> = []
  /// Whether more changed than is named: so much that it wasn't kept until somebody asked for it. Everything is to be
  /// looked at anew.
  public internal(set) var isIncomplete = false

  /// Whether nothing changed.
  public var isEmpty: Bool {
    !isIncomplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
      && invalidatedAll.isEmpty
  }
}

/// What one save wrote, as the context's own objects.
///
/// The objects belong to the context; ``savedChanges`` may go anywhere.
public struct ObjectsDidSave {
  /// New objects that have rows now, under permanent identifiers.
  public internal(set) var inserted: Set<ManagedObject> = []
  /// Objects whose rows were written, or whose members changed.
  public internal(set) var updated: Set<ManagedObject> = []
  /// Objects whose rows were deleted. They belong to no context any more.
  public internal(set) var deleted: Set<ManagedObject> = []
  /// The same as identifiers.
  public internal(set) var savedChanges = SavedChanges()
}
