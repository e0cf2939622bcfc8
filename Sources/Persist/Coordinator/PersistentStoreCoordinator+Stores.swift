public import Foundation

extension PersistentStoreCoordinator {
  /// Opens the store of a file; makes it where there is none, and migrates it where it has another model.
  ///
  /// A store counts as of the coordinator's model where Persist's fingerprints, Core Data's hashes or the structure of
  /// the model that it carries say so; it is then opened as it is. Another one needs `options.migrator`.
  ///
  /// ```swift
  /// try coordinator.addStore(at: url, options: .automaticMigration)
  /// ```
  ///
  /// - Returns: what the store is.
  /// - Throws: ``PersistenceError/Code/incompatibleModel``, with every difference in words, where the store has another
  ///   model and there is no migrator; what migrating throws, and the store is then as it was;
  ///   ``PersistenceError/Code/fileAccess`` where there is no file and none is to be made; the errors of files that
  ///   aren't stores.
  @discardableResult
  public func addStore(at url: URL, options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    try requireConfiguration(options.configuration)
    if store(at: url) != nil {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "The store is open in this coordinator already.",
        fix: "Use it as it is, or remove it first.")
    }
    return try opened(options: options) {
      let isUnclean = url.isFileURL && !options.isReadOnly && SQLiteStore.mayHaveEndedUncleanly(url)
      if url.isFileURL, !options.isReadOnly { try UnfinishedWork.settle(storeAt: url, options: options) }
      guard SQLiteStore.canCreate(at: url) else {
        let store = try openOfModel(url, options)
        if isUnclean { store.noteUncleanEnd() }
        return store
      }
      guard options.createsIfMissing, !options.isReadOnly else {
        throw PersistenceError(
          .fileAccess, at: .store(url), "There is no store.",
          fix: options.isReadOnly ? "Open it for writing to make one." : "Allow it to be made: createsIfMissing.")
      }
      return try SQLiteStore.create(url, model: managedObjectModel, options: options)
    }
  }

  /// Adds a store that lives in memory, for as long as it is open.
  @discardableResult
  public func addInMemoryStore(options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    try requireConfiguration(options.configuration)
    return try opened(options: options) { try SQLiteStore.create(nil, model: managedObjectModel, options: options) }
  }

  /// Closes a store. Objects of it that contexts still have keep what they have read, and can't be saved.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` where it isn't one of this coordinator's.
  public func remove(_ store: StoreInfo) throws {
    if openStore(identifier: store.identifier) != nil {
      post(Self.willRemoveStoreNotification, Self.removedPersistentStoresKey, [store])
      post(Self.storesWillChangeNotification, Self.removedPersistentStoresKey, [store])
    }
    guard let open = take(identifier: store.identifier) else {
      throw PersistenceError(
        .invalidRequest, at: .store(store.url), "The store isn't open in this coordinator, so it can't be removed.")
    }
    try open.close()
    post(Self.storesDidChangeNotification, Self.removedPersistentStoresKey, [store])
  }

  private func opened(options: StoreOptions, _ open: () throws -> SQLiteStore) throws -> StoreInfo {
    let store = try open()
    do {
      return try add(store)
    } catch {
      try store.close()
      throw error
    }
  }

  /// Opens the store of a file; brings it to the coordinator's model before where it has another.
  private func openOfModel(_ url: URL, _ options: StoreOptions) throws -> SQLiteStore {
    let pool = try SQLiteConnectionPool(url, options: options)
    let (difference, catalog): (PersistenceError, StoreCatalog?)
    do {
      switch try pool.readBeforeOthers({ try StoreMatch($0, of: managedObjectModel, registry: registry) }) {
      case .same(let catalog, let isStamped):
        let store = try SQLiteStore.attached(to: pool, catalog, model: managedObjectModel, options: options)
        try store.makeMissingIndexes(catalog, defersWork: options.migrator?.defersWork == true)
        if !isStamped, options.migrator != nil { try store.stamp() }
        return store
      case .different(let error, let found): (difference, catalog) = (error, found)
      }
    } catch {
      pool.close()
      throw error
    }
    // What migrates has connections of its own, and must find nobody at the files.
    pool.close()
    guard let migrator = options.migrator else { throw difference }
    guard !options.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store has another model and would have to be migrated.",
        fix: "Open it for writing.", errors: difference.errors)
    }
    if let catalog, let migrator = migrator as? any CatalogMigrator {
      try migrator.migrateStore(
        at: url, to: managedObjectModel, registry: registry, options: options, catalog: catalog)
    } else {
      try migrator.migrateStore(at: url, to: managedObjectModel, registry: registry, options: options)
    }
    return try SQLiteStore.open(url, model: managedObjectModel, options: options)
  }
}
