/// How a child context finds the new objects of its parent: under the negatives of their temporary numbers, among the
/// rows of the store that they will go to.
extension ManagedObjectContext {
  func registeredNewObjectOfParent(_ id: ManagedObjectID) -> ManagedObject? {
    guard parent != nil, let layout = layout(named: id.entityName) else { return nil }
    return storeTables.lazy.compactMap { $0.table(for: layout).map[id.rowKey] }.first
  }

  /// The identifier that a new object has in the nearest context above that has it.
  func idOfParentsNewObject(_ key: Int64, _ layout: EntityLayout, in tables: StoreTables) -> ManagedObjectID? {
    for context in sequence(first: self, next: \.parent).dropFirst() {
      let above = context.tables(of: tables.origin)
      if let object = context.registeredObject(ofRow: key, layout, in: above) { return object.objectID }
    }
    return nil
  }

  /// The object for a new one of the parent: the one that is alive, else a new fault; nil where the parent has none.
  func parentsNewObject(_ id: ManagedObjectID) -> ManagedObject? {
    guard let parent else { return nil }
    if let object = registeredNewObjectOfParent(id) { return object }
    // One that has a permanent identifier by now is found by that.
    guard let original = parent.registeredOrFault(id), original.objectID.isTemporaryID,
      original.layout.entity.name == id.entityName,
      let tables = tables(ofStore: parent.storeIdentifier(of: original))
    else { return nil }
    return makeFault(original.layout, key: id.rowKey, id: original.objectID, in: tables.table(for: original.layout))
  }
}
