extension ManagedObjectContext {
  /// Releases the tables of removed stores that have other tables now, because they were added again.
  ///
  /// Objects refer to their tables without retaining them. Tables that have objects, or that results or a running
  /// fetch may create objects in, therefore remain until a later reset. So do the last tables of a store that wasn't
  /// added again: identifiers still resolve to them.
  func releaseReplacedTables() {
    lastPlace = nil
    let open = persistentStoreCoordinator.openStores
    for index in storeTables.indices.reversed() {
      let (store, identifier) = (ObjectIdentifier(storeTables[index].origin), storeTables[index].identifier)
      guard !open.contains(where: { ObjectIdentifier($0) == store }) else { continue }
      let isReplaced = storeTables[(index + 1)...].contains { $0.identifier == identifier }
      guard isReplaced, isKnownUniquelyReferenced(&storeTables[index]), storeTables[index].isUnused else { continue }
      storeTables.remove(at: index)
      // Prefetched rows name their tables, whose addresses are used again.
      graph.outdateRowsAhead()
    }
  }

  /// Assigns the store in which a new object will be saved. The default is the first store that contains its entity.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the object isn't a new one of this context or has a
  ///   permanent identifier, or the store isn't open or doesn't contain the entity;
  ///   ``PersistenceError/Code/storeReadOnly``.
  public func assign(_ object: ManagedObject, to store: StoreInfo) throws {
    guard object.table === unsavedTable, object.change == .inserted else {
      throw PersistenceError(
        .invalidRequest, at: .entity(object.entity.name),
        "The store of \(object) can't be changed: only new objects of this context with temporary identifiers can be "
          + "assigned.",
        fix: "Assign an object before it is saved for the first time, and before it gets a permanent identifier.")
    }
    guard !store.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .init(entity: object.entity.name, store: store.url),
        "The store is open for reading only.", fix: "Choose a writable store.")
    }
    guard let open = persistentStoreCoordinator.openStore(identifier: store.identifier),
      persistentStoreCoordinator.holds(open, object.entity)
    else {
      throw PersistenceError(
        .invalidRequest, at: .init(entity: object.entity.name, store: store.url),
        "The store isn't open in this context's coordinator, or doesn't hold '\(object.entity.name)'.",
        fix: "Choose one of the coordinator's stores whose configuration has the entity.")
    }
    assignedStores[object.key] = store.identifier
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

extension ManagedObjectContext {
  /// The rows of the store that contains all of these entities, as the context reads them, or its parent.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if no open store contains them, or several do.
  package func rows(ofStoreHolding entities: [Entity]) throws -> any RowSource {
    if let parent { return try parent.rows(ofStoreHolding: entities) }
    let coordinator = persistentStoreCoordinator
    let stores = coordinator.openStores.filter { store in entities.allSatisfy { coordinator.holds(store, $0) } }
    guard let store = stores.first, stores.count == 1 else {
      let number = stores.isEmpty ? "No open store contains" : "\(stores.count) open stores contain"
      throw PersistenceError(
        .invalidRequest,
        "\(number) all entities of the request\(entities.isEmpty ? "." : ": \(entities.map(\.name).joined(separator: ", ")).")",
        fix: "One request in SQL reads one store, which has all of its entities and is the only one that has them.")
    }
    return tables(of: store).store
  }
}
