package import Foundation
package import Persist

/// Writes rows to a store without a context and its objects: for filling stores.
package final class StoreWriter {
  package let model: ManagedObjectModel
  /// The name of the store's version; nil if it is none of the given versions.
  package let versionName: String?
  /// Whether the store was created.
  package let isNew: Bool
  private let location: StoreLocation
  private let store: any PersistentStore

  /// Opens a store, or creates it if it doesn't exist.
  ///
  /// - Parameters:
  ///   - registry: The versions to search for the store's model; nil to use the store's embedded model.
  ///   - version: The version of a new store, by name or version identifier; nil for the current one of the only
  ///     family. An existing store must have this version.
  package init(storeAt url: URL, registry: ModelRegistry?, version name: String?) throws {
    let wanted = try name.flatMap { try registry?.version(named: $0) }
    location = StoreLocation(url)
    let engine = try location.engine
    guard try !engine.canCreateStore(at: location) else {
      guard let version = try wanted ?? registry?.onlyFamily.current else {
        throw PersistenceError(
          .storeOpenFailed, at: .store(url), "There is no store.", fix: "Name the models, so that it can be created.")
      }
      isNew = true
      store = try engine.createStore(at: location, model: version.model, options: StoreOptions())
      model = version.model
      versionName = version.name
      return
    }
    isNew = false
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

  /// Creates a store whose rows contain their large values, so that it is a single file.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is a file already.
  package init(creatingFileAt url: URL, model: ManagedObjectModel) throws {
    location = StoreLocation(url)
    guard try location.engine.canCreateStore(at: location) else {
      throw PersistenceError(
        .fileAccess, at: .store(url), "There is a file already.", fix: "Name another place, or delete it.")
    }
    var options = StoreOptions()
    options.keepsLargeValuesInRows = true
    store = try location.engine.createStore(at: location, model: model, options: options)
    (self.model, isNew, versionName) = (model, true, nil)
  }

  /// Whether there is a store at a URL already, or anything else.
  package static func isStore(at url: URL) throws -> Bool {
    let location = StoreLocation(url)
    return try !location.engine.canCreateStore(at: location)
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

  /// Inserts rows with their keys and relationships, slice by slice, in one transaction: all of them, or none.
  package func insert(slices next: () throws -> ImportSlice?) throws -> ImportOutcome {
    try store.insert(slices: next)
  }

  /// The store's identifier, as part of its objects' identifiers.
  package var identifier: String { store.identifier }

  package func close() throws { try store.close() }

  /// Calls a closure that writes, and closes the store.
  ///
  /// - Throws: The errors of the closure and of closing. A new store is deleted then: it would remain without some of
  ///   its objects.
  package func closing<T>(_ write: () throws -> T) throws -> T {
    do {
      let result = try write()
      try close()
      return result
    } catch {
      if isNew { try? discard() }
      throw error
    }
  }

  /// Closes the store and deletes it, with everything that belongs to it.
  package func discard() throws {
    try close()
    try location.engine.destroyStore(at: location)
  }
}
