import Foundation

/// The difference between a store's model and the model that it should be opened with.
package struct StoreDifference: KnownStore {
  /// The store with its model; nil if the model is unknown.
  package let store: IdentifiedStore?
  /// The store's open database, for a migration; nil if the engine has closed it.
  package var opened: (any UnmigratedStore)?
  private let makeError: @Sendable () -> PersistenceError

  /// ``PersistenceError/Code/incompatibleModel``, with every difference in words; computed when it is used.
  package var error: PersistenceError { makeError() }

  init(between store: IdentifiedStore, and model: ManagedObjectModel, at url: URL?) {
    self.store = store
    makeError = {
      let fingerprints = Fingerprint.differences(
        stored: store.model.fingerprints.mapValues(\.bytes), model: model.fingerprints.mapValues(\.bytes))
      let parts = ModelDifference.between(store: store.model, model: model).filter { $0.weight == .storage }
      return Self.error(
        at: url, metadata: store.metadata, differences: fingerprints + parts.map(\.description),
        isNewer: store.isNewer(than: model))
    }
  }

  /// - Parameter error: ``PersistenceError/Code/missingSourceModel``.
  init(unknown error: PersistenceError, at url: URL?, _ metadata: StoreMetadata) {
    store = nil
    makeError = {
      let words = error.errors.isEmpty ? [error.message] : error.errors.map(\.message)
      return Self.error(at: url, metadata: metadata, differences: words)
    }
  }

  private static func error(
    at url: URL?, metadata: StoreMetadata, differences words: [String], isNewer: Bool = false
  ) -> PersistenceError {
    var error = PersistenceError(
      .incompatibleModel, at: .store(url),
      "The store was written with \(isNewer ? "a newer version of the" : "another") model.",
      fix: isNewer
        ? "Open it with a program that knows this version, or set automaticMigration, which downgrades the store if no "
          + "data is lost."
        : "Set automaticMigration, or open it with the model that it was written with.",
      errors: words.map { PersistenceError(.incompatibleModel, at: .store(url), $0) })
    error.details = PersistenceError.Details(metadata)
    return error
  }
}
