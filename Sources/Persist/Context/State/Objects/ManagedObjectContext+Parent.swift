/// Identification of a parent's new objects in a child context: by the negatives of their temporary numbers, among the
/// rows of their future store.
extension ManagedObjectContext {
  func registeredNewObjectOfParent(_ id: ManagedObjectID) -> ManagedObject? {
    guard parent != nil, let layout = layout(named: id.entityName) else { return nil }
    return storeTables.lazy.compactMap { $0.table(for: layout).map[id.rowKey] }.first
  }

  /// Returns the identifier of a new object in the nearest ancestor context that has it.
  func idOfParentsNewObject(_ key: Int64, _ layout: EntityLayout, in tables: StoreTables) -> ManagedObjectID? {
    for context in sequence(first: self, next: \.parent).dropFirst() {
      let above = context.tables(of: tables.origin)
      if let object = context.registeredObject(ofRow: key, layout, in: above) { return object.objectID }
    }
    return nil
  }

  /// Returns the object for a new object of the parent: the registered one, or else a new fault; nil if the parent has
  /// none.
  func parentsNewObject(_ id: ManagedObjectID) -> ManagedObject? {
    guard let parent else { return nil }
    if let object = registeredNewObjectOfParent(id) { return object }
    // One with a permanent identifier is resolved by that.
    guard let original = parent.registeredOrFault(id), original.objectID.isTemporaryID,
      original.layout.entity.name == id.entityName,
      let tables = tables(ofStore: parent.storeIdentifier(of: original))
    else { return nil }
    return makeFault(original.layout, key: id.rowKey, id: original.objectID, in: tables.table(for: original.layout))
  }
}
