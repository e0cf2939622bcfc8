extension ManagedObjectContext {
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
    graph.assign(object, toStore: store.identifier)
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
      let names = entities.map(\.name).joined(separator: ", ")
      throw PersistenceError(
        .invalidRequest, "\(number) all entities of the request\(names.isEmpty ? "" : ": \(names)").",
        fix: "One request in SQL reads one store, which has all of its entities and is the only one that has them.")
    }
    return tables(of: store).store
  }
}
