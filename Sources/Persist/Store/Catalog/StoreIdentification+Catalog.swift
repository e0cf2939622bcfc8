package import Foundation

/// Identifying a store from its catalog.
extension StoreIdentification {
  /// - Parameter embedded: Reads the embedded model.
  package static func identify(
    _ catalog: StoreCatalog, at url: URL?, registry: ModelRegistry?, embedded: () throws -> EmbeddedModel
  ) throws -> IdentifiedStore {
    let evidence = try evidence(catalog, at: url, registry: registry, embedded: embedded)
    let found = try evidence.identify(among: registry)
    return IdentifiedStore(
      catalog, as: found, embeddedModelError: found.origin == .columns ? evidence.embeddedModelError : nil,
      descendsFromKnownVersion: found.version == nil
        && registry?.versions.contains { catalog.metadata.descends(from: $0.model) } == true)
  }

  /// The evidence of a store's model.
  ///
  /// The embedded model takes milliseconds to read and is skipped if Persist's record names a single version.
  static func evidence(
    _ catalog: StoreCatalog, at url: URL?, registry: ModelRegistry?, embedded: () throws -> EmbeddedModel
  ) throws -> StoreEvidence {
    var evidence = StoreEvidence(
      url: url, persistFingerprints: catalog.record?.fingerprints, modelDigest: catalog.record?.modelDigest,
      coreDataHashes: catalog.metadata.versionHashes, versionIdentifiers: catalog.metadata.versionIdentifiers
    ) { model in
      catalog.schemaDifferences(from: model)
    }
    if let registry, evidence.namesOneVersion(of: registry) { return evidence }
    switch try embedded() {
    case .none: break
    case .model(let model):
      evidence.embeddedModel = model
      let gaps = catalog.tableMap(of: model).differences
      if !gaps.isEmpty {
        evidence.embeddedModelError = PersistenceError(
          .incompatibleModel, at: PersistenceError.Place(store: url, key: "embedded model"),
          "The embedded model doesn't match the store's tables: \(gaps.joined(separator: " "))")
      }
    case .unusable(let error): evidence.embeddedModelError = error
    }
    return evidence
  }
}
