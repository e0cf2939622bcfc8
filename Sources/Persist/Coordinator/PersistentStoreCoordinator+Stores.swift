public import Foundation

extension PersistentStoreCoordinator {
  /// Opens the store at a URL. Creates it if it doesn't exist, and migrates it if it has another model.
  ///
  /// A store matches the coordinator's model if Persist's fingerprints, Core Data's hashes or the structure of the
  /// store's embedded model say so; it is then opened unchanged. Any other store requires `options.migrator`.
  ///
  /// ```swift
  /// try coordinator.addStore(at: url, options: .automaticMigration)
  /// ```
  ///
  /// - Returns: A description of the opened store.
  /// - Throws: ``PersistenceError/Code/incompatibleModel``, with every difference in words, if the store has another
  ///   model and there is no migrator; migration errors, which leave the store unchanged;
  ///   ``PersistenceError/Code/fileAccess`` if the file doesn't exist and must not be created; the errors for files
  ///   that aren't stores.
  @discardableResult
  public func addStore(at url: URL, options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    try addStore(StoreLocation(url), options: options)
  }

  /// Opens the store at a location, as ``addStore(at:options:)`` does for a file.
  ///
  /// ```swift
  /// import PersistPostgreSQL
  ///
  /// try coordinator.addStore(.postgreSQL("postgresql://shop@db.example.com/shop"), options: .automaticMigration)
  /// ```
  @discardableResult
  public func addStore(_ location: StoreLocation, options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    guard let url = location.url else { return try addInMemoryStore(options: options) }
    try requireConfiguration(options.configuration)
    if case .server = location, options.key != nil {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "A store on a server has no key.",
        fix: "Leave StoreOptions.key nil; encryption at rest is the server's.")
    }
    if case .some = store(at: url) {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "The store is already open in this coordinator.",
        fix: "Use it as it is, or remove it first.")
    }
    let engine = try location.engine
    return try options.encrypting { try addStore(location, at: url, engine: engine, options: options) }
  }

  private func addStore(
    _ location: StoreLocation, at url: URL, engine: any StoreEngine, options: StoreOptions
  ) throws -> StoreInfo {
    try opened(options) {
      let isUnclean = try !options.isReadOnly && engine.recoverStore(at: location, options: options)
      guard try engine.canCreateStore(at: location) else {
        let store = try openOfModel(location, by: engine, options: options)
        if isUnclean { store.recordUncleanEnd() }
        return store
      }
      guard options.createsIfMissing, !options.isReadOnly else {
        throw PersistenceError(
          .fileAccess, at: .store(url), "The store doesn't exist.",
          fix: options.isReadOnly ? "Open it for writing to create it." : "Set createsIfMissing to create it.")
      }
      return try engine.createStore(at: location, model: managedObjectModel, options: options)
    }
  }

  /// Adds a store in memory, which exists while it is open.
  @discardableResult
  public func addInMemoryStore(options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    try requireConfiguration(options.configuration)
    return try opened(options) {
      try StoreLocation.memory.engine.createStore(at: .memory, model: managedObjectModel, options: options)
    }
  }

  /// Closes a store. Objects that contexts still have keep the values they read, and can't be saved.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store isn't open in this coordinator.
  public func remove(_ store: StoreInfo) throws {
    if openStore(identifier: store.identifier) != nil {
      post(Self.willRemoveStoreNotification, under: Self.removedPersistentStoresKey, stores: [store])
      post(Self.storesWillChangeNotification, under: Self.removedPersistentStoresKey, stores: [store])
    }
    guard let open = detachStore(withIdentifier: store.identifier) else {
      throw PersistenceError(
        .invalidRequest, at: .store(store.url), "The store isn't open in this coordinator, so it can't be removed.")
    }
    try open.close()
    post(Self.storesDidChangeNotification, under: Self.removedPersistentStoresKey, stores: [store])
  }

  private func opened(_ options: StoreOptions, _ open: () throws -> any PersistentStore) throws -> StoreInfo {
    let opened = try open()
    let store = options.instrument?.observing(opened) ?? opened
    do {
      return try add(store)
    } catch {
      try store.close()
      throw error
    }
  }

  /// Opens a store, after migrating it to the coordinator's model if it has another.
  private func openOfModel(
    _ location: StoreLocation, by engine: any StoreEngine, options: StoreOptions
  ) throws -> any PersistentStore {
    switch try engine.openStore(at: location, ifOf: managedObjectModel, registry: registry, options: options) {
    case .opened(let store):
      guard let migrator = options.migrator, let url = location.url else { return store }
      do {
        try migrator.examineStore(at: url, of: managedObjectModel, options: options)
        if !options.isReadOnly, try !store.parkedSlots().isEmpty {
          try migrator.maintainStore(at: url, model: managedObjectModel, registry: registry, options: options)
        }
        return store
      } catch {
        try store.close()
        throw error
      }
    case .differs(let difference): return try openMigrating(difference, at: location, engine: engine, options: options)
    }
  }

  /// Migrates a store to the coordinator's model, and opens it.
  private func openMigrating(
    _ difference: StoreDifference, at location: StoreLocation, engine: any StoreEngine, options: StoreOptions
  ) throws -> any PersistentStore {
    let opened = difference.opened
    defer { opened?.close() }
    guard var migrator = options.migrator, let url = location.url else { throw difference.error }
    if let instrument = options.instrument { migrator = instrument.observing(migrator) }
    guard !options.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store has another model and must be migrated.",
        fix: "Open it for writing.", errors: difference.error.errors)
    }
    if !migrator.continuesWithOpenStore { opened?.close() }
    var known = options
    known.knownStore = difference
    try migrator.migrateStore(at: url, to: managedObjectModel, registry: registry, options: known)
    if let opened, !opened.isEnded { return try opened.open(managedObjectModel, options: options) }
    return try engine.openStore(at: location, model: managedObjectModel, options: options, allowsGaps: false)
  }
}
