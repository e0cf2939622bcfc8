import Foundation

/// Whether a store matches a model.
enum StoreMatch {
  /// The store matches: by fingerprint, by hashes, by the structure of its embedded model, or by columns.
  ///
  /// - Parameter isStamped: Whether the store itself names this model, rather than a version with the same storage.
  case same(StoreCatalog, isStamped: Bool)
  /// The store doesn't match: ``PersistenceError/Code/incompatibleModel``, with every difference in words, and the
  /// store's catalog if its model is known.
  case different(PersistenceError, StoreCatalog?)

  /// - Parameter found: A store whose model was identified among ``registry(_:with:)``.
  init(_ found: IdentifiedStore, at url: URL?, of model: ManagedObjectModel) {
    if found.model === model || found.model.fingerprints == model.fingerprints {
      self = .same(
        found.catalog, isStamped: found.model === model || found.model.description == model.description)
      return
    }
    let fingerprints = Fingerprint.differences(
      stored: found.model.fingerprints.mapValues(\.bytes), model: model.fingerprints.mapValues(\.bytes))
    let parts = ModelDifference.between(store: found.model, model: model).filter { $0.weight == .storage }
    self = .different(
      Self.error(url, found.metadata, fingerprints + parts.map(\.description), isNewer: found.isNewer(than: model)),
      found.catalog)
  }

  /// - Parameter error: ``PersistenceError/Code/missingSourceModel``.
  init(unknown error: PersistenceError, at url: URL?, _ metadata: StoreMetadata) {
    let words = error.errors.isEmpty ? [error.message] : error.errors.map(\.message)
    self = .different(Self.error(url, metadata, words), nil)
  }

  private static func error(
    _ url: URL?, _ metadata: StoreMetadata, _ words: [String], isNewer: Bool = false
  ) -> PersistenceError {
    var error = PersistenceError(
      .incompatibleModel, at: .store(url),
      "The store was written with \(isNewer ? "a newer version of the" : "another") model: "
        + words.joined(separator: " "),
      fix: isNewer
        ? "Open it with a program that knows this version, or set automaticMigration, which downgrades the store if no "
          + "data is lost."
        : "Set automaticMigration, or open it with the model that it was written with.",
      errors: words.map { PersistenceError(.incompatibleModel, at: .store(url), $0) })
    error.details = PersistenceError.Details(metadata)
    return error
  }

  /// Returns the known versions including the wanted model.
  static func registry(_ registry: ModelRegistry?, with model: ManagedObjectModel) -> ModelRegistry {
    // A name that no file can have, so that it doesn't replace a version.
    let wanted = ModelVersion(name: "the coordinator's model", model: model)
    guard let registry else { return ModelRegistry(versions: [wanted]) }
    return registry.version(with: model) != nil ? registry : registry.adding(wanted)
  }
}

/// A migrator that reuses what the coordinator has already read from a store.
protocol CatalogMigrator: StoreMigrator {
  /// Migrates like ``StoreMigrator/migrateStore(at:to:registry:options:)``.
  ///
  /// - Parameter catalog: The store's catalog as read a moment ago; another process may have changed the store since.
  func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions, catalog: StoreCatalog)
    throws
}
