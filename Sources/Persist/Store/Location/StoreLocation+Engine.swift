public import Foundation

extension StoreLocation {
  /// The engine of the database system that the location belongs to.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if the program has no engine for servers.
  package var engine: any MigrationEngine {
    get throws {
      switch self {
      case .memory, .file: SQLiteEngine()
      case .server: try ServerEngines.current
      }
    }
  }

  /// Reads the store in one transaction, without changing anything.
  @inline(never)
  package func inspect<T>(
    options: StoreOptions = StoreOptions(), _ body: (any StoreInspector) throws -> T
  ) throws -> T {
    try engine.inspect(self, options: options, body)
  }
}

extension StoreIdentification {
  /// Identifies the model of a store. Nothing is written, and no file is created beside the store.
  ///
  /// - Parameters:
  ///   - url: The file of the store.
  ///   - registry: The candidate versions; nil uses the embedded model.
  /// - Throws: ``PersistenceError/Code/missingSourceModel``, which names the nearest version and every difference;
  ///   ``PersistenceError/Code/notAStore``, ``PersistenceError/Code/storeDamaged`` and errors of opening.
  public static func identify(storeAt url: URL, registry: ModelRegistry? = nil) throws -> IdentifiedStore {
    let location = StoreLocation(url)
    return try location.engine.identifyStore(at: location, registry: registry)
  }

  /// The metadata of a store, without identifying its model.
  public static func metadata(storeAt url: URL) throws -> StoreMetadata {
    let location = StoreLocation(url)
    return try location.engine.metadata(ofStoreAt: location)
  }
}
