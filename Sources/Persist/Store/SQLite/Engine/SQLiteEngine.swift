package import Foundation

/// Stores in SQLite files in Core Data's layout, and in memory.
package struct SQLiteEngine: StoreEngine {

  package init() {}
  package func canCreateStore(at location: StoreLocation) throws -> Bool {
    guard let url = location.url else { return true }
    return try SQLiteStore.canCreate(at: url)
  }

  package func createStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
  ) throws -> any PersistentStore {
    try SQLiteStore.create(location.url, model: model, options: options)
  }

  package func openStore(
    at location: StoreLocation, model: ManagedObjectModel, options: StoreOptions, allowsGaps: Bool
  ) throws -> any PersistentStore {
    try SQLiteStore.open(file(location), model: model, options: options, allowsGaps: allowsGaps)
  }

  package func openStore(
    at location: StoreLocation, ifOf model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> StoreOpening {
    let pool = try SQLiteConnectionPool(file(location), options: options)
    do {
      let finding = try pool.readBeforeOthers { connection in
        try connection.readTransaction { try examine(connection, for: model, registry: registry, options: options) }
      }
      switch finding {
      case .sealed(let state):
        return .opened(try SQLiteStore.sealed(state, in: pool, model: model, options: options))
      case .compared(.same(let catalog, let isStamped)):
        let store = try SQLiteStore.attached(to: pool, catalog, model: model, options: options)
        try store.makeMissingIndexes(catalog, defersWork: options.migrator?.defersWork == true)
        if !isStamped, options.migrator != nil { try store.stamp() }
        return .opened(store)
      case .compared(.different(var difference)):
        if difference.store != nil, !options.isReadOnly, options.migrator?.continuesWithOpenStore == true {
          difference.opened = UnmigratedFile(pool)
        } else {
          pool.close()
        }
        return .differs(difference)
      }
    } catch {
      pool.close()
      throw error
    }
  }

  private indirect enum Finding {
    case sealed(LayoutSeal.State)
    case compared(StoreMatch)
  }

  /// Finds the state for which a store has a valid seal, or else compares its catalog with the model.
  private func examine(
    _ connection: SQLiteConnection, for model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> Finding {
    var head: StoreCatalog.Head?
    if let state = try SQLiteStore.sealedState(connection, model: model, registry: registry, options: options, &head) {
      return .sealed(state)
    }
    return .compared(try match(connection, head: head, with: model, registry: registry))
  }

  private func match(
    _ connection: SQLiteConnection, head: StoreCatalog.Head?, with model: ManagedObjectModel, registry: ModelRegistry?
  ) throws -> StoreMatch {
    do {
      let catalog = try StoreCatalog(connection, head: head)
      // A registry of this version alone would only repeat the comparison.
      if registry == nil, catalog.names(model) { return .same(catalog, isStamped: true) }
      let found = try StoreIdentification.identify(
        catalog, at: connection.url, registry: StoreMatch.registry(registry, with: model)
      ) {
        try EmbeddedModel(connection, catalog: catalog)
      }
      return StoreMatch(found, at: connection.url, of: model)
    } catch let error as PersistenceError where error.code == .missingSourceModel {
      return StoreMatch(unknown: error, at: connection.url, try StoreMetadata(connection))
    }
  }

  package func recoverStore(at location: StoreLocation, options: StoreOptions) throws -> Bool {
    guard let url = location.url, url.isFileURL else { return false }
    let path = SQLiteFileName.resolvedPath(url)
    let isUnclean = SQLiteStore.mayHaveEndedUncleanly(path)
    if UnfinishedWork.mayExist(besideStoreAt: path) { try UnfinishedWork.cleanUp(storeAt: url, options: options) }
    return isUnclean
  }

  // MARK: Identifying

  package func identifyStore(at location: StoreLocation, registry: ModelRegistry?) throws -> IdentifiedStore {
    try SQLiteConnection.reading(file(location)) { try StoreIdentification.identify($0, registry: registry) }
  }

  package func metadata(ofStoreAt location: StoreLocation) throws -> StoreMetadata {
    try SQLiteConnection.reading(file(location), Self.metadata)
  }

  private static func metadata(_ connection: SQLiteConnection) throws -> StoreMetadata {
    do {
      return try StoreMetadata(connection)
    } catch let error as PersistenceError where error.code == .sqlite {
      // The file isn't a store; reading it completely reports the reason.
      _ = try StoreCatalog(connection)
      throw error
    }
  }

  package func setMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws {
    let pool = try SQLiteConnectionPool(file(location), options: StoreOptions())
    defer { pool.close() }
    try pool.write { try Self.metadata($0).replacingApplicationValues(by: metadata).write(to: $0) }
  }

  package func replaceMetadata(_ metadata: StoreMetadata, ofStoreAt location: StoreLocation) throws {
    let pool = try SQLiteConnectionPool(file(location), options: StoreOptions())
    defer { pool.close() }
    try pool.write { connection in
      let model = try StoreIdentification.identify(connection, registry: nil).model
      var metadata = metadata
      metadata.values[StoreMetadata.Key.storeType] = .string(StoreType.sqlite.rawValue)
      try metadata.write(to: connection)
      try metadata.record(model, in: connection)
    }
  }

  // MARK: Removing and replacing

  package func openCount(ofStoreAt location: StoreLocation) -> Int {
    location.url.map { OpenStoreFiles.count(of: $0) } ?? 0
  }

  package func destroyStore(at location: StoreLocation) throws {
    try StoreFiles(storeAt: file(location)).delete()
  }

  package func createStore(at location: StoreLocation, fromCopyAt copy: StoreLocation) throws {
    let url = try file(location)
    // An empty file isn't a store.
    guard FileState(url) != nil, (try? SQLiteStore.canCreate(at: url)) == true else {
      return try StoreBackup.copy(storeAt: file(copy), to: url)
    }
    try replaceStore(at: location, withCopyAt: copy)
  }

  package func replaceStore(at location: StoreLocation, withCopyAt copy: StoreLocation) throws {
    try StoreBackup.replace(storeAt: file(location), withStoreAt: file(copy))
  }

  // MARK: Searching texts

  package func textSearcher(_ search: FullTextSearch) throws -> any TextSearcher { try SingleTextIndex(search) }

  @inline(never)
  package func file(_ location: StoreLocation) throws -> URL {
    if let url = location.url { return url }
    throw PersistenceError(
      .storeTypeMismatch, "A store in memory has no file.", fix: "Specify a store's file.")
  }
}
