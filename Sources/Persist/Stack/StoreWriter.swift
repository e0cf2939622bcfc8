package import Foundation

/// Writes rows to a store without a context and its objects: for filling stores.
package final class StoreWriter {
  package let model: ManagedObjectModel
  /// The name of the store's version; nil if it is none of the given versions.
  package let versionName: String?
  private let store: any PersistentStore

  /// Opens a store, or creates it if it doesn't exist.
  ///
  /// - Parameters:
  ///   - version: The version of a new store, by name or version identifier; nil for the current one. An existing store
  ///     must have this version.
  package init(storeAt url: URL, registry: ModelRegistry, version name: String?) throws {
    let wanted = try name.map { try registry.version(named: $0) }
    let location = StoreLocation(url)
    let engine = location.engine
    guard !engine.canCreateStore(at: location) else {
      let version = wanted ?? registry.currentVersion
      store = try engine.createStore(at: location, model: version.model, options: StoreOptions())
      model = version.model
      versionName = version.name
      return
    }
    let identified = try engine.identifyStore(at: location, registry: registry)
    if let wanted, identified.version?.name != wanted.name {
      throw PersistenceError(
        .incompatibleModel, at: .store(url),
        "The store has the version '\(identified.version?.name ?? "unknown")', not '\(wanted.name)'.",
        fix: "Migrate it first, or omit the version.")
    }
    store = try engine.openStore(
      at: location, model: identified.model, options: StoreOptions(), allowsGaps: false)
    model = identified.model
    versionName = identified.version?.name
  }

  /// Returns the greatest key in use in an entity's hierarchy, or 0 if there are none.
  ///
  /// - Parameter root: The root entity of the hierarchy.
  package func greatestKey(in root: Entity) throws -> Int64 {
    try store.greatestKey(inHierarchyOf: root)
  }

  /// Writes all rows in one transaction, or none.
  package func commit(_ writes: RowWrites) throws {
    do {
      _ = try store.commit(writes)
    } catch is RowConflicts {
      throw PersistenceError(
        .mergeConflict, at: .store(store.url), "Another program changed the store in the meantime.", fix: "Try again.")
    }
  }

  package func close() throws { try store.close() }
}
