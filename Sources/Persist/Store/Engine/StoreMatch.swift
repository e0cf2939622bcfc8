package import Foundation

/// Whether a store matches a model.
package indirect enum StoreMatch {
  /// The store matches: by fingerprint, by hashes, by the structure of its embedded model, or by columns.
  ///
  /// - Parameter isStamped: Whether the store itself names this model, rather than a version with the same storage.
  case same(StoreCatalog, isStamped: Bool)
  /// The store doesn't match, in words.
  case different(StoreDifference)

  /// - Parameter found: A store whose model was identified among ``registry(_:with:)``.
  package init(_ found: IdentifiedStore, at url: URL?, of model: ManagedObjectModel) {
    guard found.model === model || found.model.fingerprints == model.fingerprints else {
      self = .different(StoreDifference(between: found, and: model, at: url))
      return
    }
    self = .same(found.catalog, isStamped: found.model === model || found.model.description == model.description)
  }

  /// - Parameter error: ``PersistenceError/Code/missingSourceModel``.
  package init(unknown error: PersistenceError, at url: URL?, _ metadata: StoreMetadata) {
    self = .different(StoreDifference(unknown: error, at: url, metadata))
  }

  /// Returns the known versions including the wanted model.
  package static func registry(_ registry: ModelRegistry?, with model: ManagedObjectModel) -> ModelRegistry {
    // A name that no file can have, so that it doesn't replace a version.
    let wanted = ModelVersion(name: "the coordinator's model", model: model)
    guard let registry else { return ModelRegistry(versions: [wanted]) }
    return registry.version(with: model) != nil ? registry : registry.adding(wanted)
  }
}
