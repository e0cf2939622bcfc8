/// The keys by which rows identify objects. New objects have negative keys in the rows that a context passes to its
/// child contexts.
extension ManagedObjectContext {
  /// Returns the registered object of a row, or the new object with a negative key.
  @inline(never)
  func registeredObject(ofRow key: Int64, _ layout: EntityLayout, in tables: StoreTables) -> ManagedObject? {
    if key < 0, let object = unsavedTable.map[-key] { return object }
    return tables.table(for: layout).map[key]
  }

  /// Returns the key by which a store's rows identify an object; nil for an object of another store.
  func rowKey(of id: ManagedObjectID, in tables: StoreTables) -> Int64? {
    if id.isTemporaryID { return parent == nil ? nil : id.rowKey }
    return id.storeIdentifier == tables.identifier ? id.rowKey : nil
  }
}

/// The stores of objects.
extension ManagedObjectContext {
  /// Returns the identifier of the store that has or will have an object's row; empty if there is none.
  func storeIdentifier(of object: ManagedObject) -> String {
    if let tables = object.table?.siblings { return tables.identifier }
    // An object without a store isn't in any of the requested ones.
    return (try? storeForInsert(of: object))?.identifier ?? ""
  }

  /// Returns the store in which a new object will be saved.
  func storeForInsert(of object: ManagedObject) throws -> any PersistentStore {
    guard let identifier = graph.assignedStores[object.key] else {
      return try persistentStoreCoordinator.storeForInsert(of: object.layout.entity)
    }
    if let store = persistentStoreCoordinator.openStore(identifier: identifier) { return store }
    throw PersistenceError(
      .saveFailed, at: .entity(object.entity.name), "The store that \(object) was assigned to is no longer open.",
      fix: "Assign it to another store.")
  }
}

extension ManagedObject {
  /// The key of the object's row in child contexts.
  final var rowKey: Int64 { table?.isTemporary == false ? key : -key }

  /// Whether the object is new, or represents a new object of a parent context.
  final var hasNoRow: Bool { change == .inserted || key < 0 }
}

/// Identification of a parent's new objects in a child context: by the negatives of their temporary numbers, among the
/// rows of their future store.
extension ManagedObjectContext {
  func registeredNewObjectOfParent(_ id: ManagedObjectID) -> ManagedObject? {
    guard parent != nil, let layout = layout(named: id.entityName) else { return nil }
    return graph.tables.stores.lazy.compactMap { $0.table(for: layout).map[id.rowKey] }.first
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
    // A saved object is found by its permanent identifier instead.
    guard let original = parent.registeredOrFault(id), original.objectID.isTemporaryID,
      original.layout.entity.name == id.entityName,
      let tables = tables(ofStore: parent.storeIdentifier(of: original))
    else { return nil }
    return makeFault(original.layout, key: id.rowKey, id: original.objectID, in: tables.table(for: original.layout))
  }
}
