/// The changes in a context since its pending changes were last processed.
///
/// The objects belong to the context, and so does this value: it stays in the context's isolation.
public struct ObjectsDidChange {
  /// Objects that are new in the context: created, restored after a deletion, or merged from another context's save.
  public package(set) var inserted: Set<ManagedObject> = []
  /// Objects with changed properties, including those inserted in an earlier event.
  public package(set) var updated: Set<ManagedObject> = []
  /// Objects that were deleted, including new ones that were discarded.
  public package(set) var deleted: Set<ManagedObject> = []
  /// Objects that were reloaded from the store.
  public package(set) var refreshed: Set<ManagedObject> = []
  /// Objects without values, because their store is gone.
  public package(set) var invalidated: Set<ManagedObject> = []
  /// The objects that were registered when the context was reset; otherwise empty.
  public package(set) var invalidatedAll: Set<ManagedObject> = []
  /// Whether there were more changes than are included: too many to keep until they were requested. Everything must be
  /// reexamined.
  public package(set) var isIncomplete = false

  package init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool {
    !isIncomplete && inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
      && invalidatedAll.isEmpty
  }
}

/// The changes written by a save, as the context's own objects.
///
/// The objects belong to the context; ``savedChanges`` can be passed anywhere.
public struct ObjectsDidSave {
  /// New objects that now have rows and permanent identifiers.
  public package(set) var inserted: Set<ManagedObject> = []
  /// Objects whose rows were written, or whose members changed.
  public package(set) var updated: Set<ManagedObject> = []
  /// Objects whose rows were deleted. They no longer belong to a context.
  public package(set) var deleted: Set<ManagedObject> = []
  /// The same changes as identifiers.
  public package(set) var savedChanges = SavedChanges()
  /// The position of the save in the history of its stores; nil if none of them records its changes.
  public package(set) var historyToken: HistoryToken?
  /// The state of the stores to which the context is pinned after the save; nil if it isn't pinned, or if the stores
  /// can't hold a state.
  public package(set) var queryGenerationToken: QueryGenerationToken?

  package init(
    inserted: Set<ManagedObject> = [], updated: Set<ManagedObject> = [], deleted: Set<ManagedObject> = [],
    savedChanges: SavedChanges = SavedChanges(), historyToken: HistoryToken? = nil,
    queryGenerationToken: QueryGenerationToken? = nil
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.savedChanges = savedChanges
    self.historyToken = historyToken
    self.queryGenerationToken = queryGenerationToken
  }
}
