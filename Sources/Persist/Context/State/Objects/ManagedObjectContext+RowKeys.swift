/// The keys by which rows identify objects. New objects have negative keys in the rows that a context passes to its
/// child contexts.
extension ManagedObjectContext {
  /// Returns the registered object of a row, or the new object with a negative key.
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
    // Without a store, the object is in none of the requested stores.
    return (try? storeForInsert(of: object))?.identifier ?? ""
  }

  /// Returns the store in which a new object will be saved.
  func storeForInsert(of object: ManagedObject) throws -> any PersistentStore {
    guard let identifier = assignedStores[object.key] else {
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
