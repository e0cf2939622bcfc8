import Foundation

/// Why a store isn't of a model.
struct StoreDifference {
  /// ``PersistError/Code/incompatibleModel``, with every difference in words.
  let error: PersistError

  /// Nil where the store is of the model: by fingerprint, by hashes, by the structure of its own model, or by columns.
  ///
  /// - Throws: the errors of files that aren't stores.
  init?(storeAt url: URL, from model: ManagedObjectModel, registry: ModelRegistry?) throws {
    let words: [String]
    do {
      let found = try StoreIdentification.identify(storeAt: url, registry: Self.registry(registry, with: model))
      if found.model === model || found.model.fingerprints == model.fingerprints { return nil }
      words =
        Fingerprint.differences(
          stored: found.model.fingerprints.mapValues(\.bytes), model: model.fingerprints.mapValues(\.bytes))
        + ModelDifference.between(store: found.model, model: model).filter { $0.weight == .storage }.map(\.description)
    } catch let error as PersistError where error.code == .missingSourceModel {
      words = error.errors.isEmpty ? [error.message] : error.errors.map(\.message)
    }
    error = PersistError(
      .incompatibleModel, at: .store(url), "The store was written with another model: \(words.joined(separator: " "))",
      fix: "Open it with the option automaticMigration, or with the model that it was written with.",
      errors: words.map { PersistError(.incompatibleModel, at: .store(url), $0) })
  }

  /// The known versions, the wanted model among them.
  private static func registry(_ registry: ModelRegistry?, with model: ManagedObjectModel) -> ModelRegistry {
    // A name that no file gives, so that it takes no version's place.
    let wanted = ModelVersion(name: "the coordinator's model", model: model)
    guard let registry else { return ModelRegistry(versions: [wanted]) }
    return registry.versions.contains { $0.model === model } ? registry : registry.adding(wanted)
  }
}
