import Foundation

/// Identifying an SQLite file.
extension StoreIdentification {
  /// Identifies the model of an open store, from one consistent state of it.
  ///
  /// - Parameter known: A catalog read before, which is reused if it is still valid.
  static func identify(
    _ connection: SQLiteConnection, registry: ModelRegistry?, _ known: StoreCatalog? = nil
  ) throws -> IdentifiedStore {
    try connection.readTransaction {
      let catalog = try known.flatMap { try $0.isCurrent(connection) ? $0 : nil } ?? StoreCatalog(connection)
      return try identify(catalog, at: connection.url, registry: registry) {
        try EmbeddedModel(connection, catalog: catalog)
      }
    }
  }

  /// The evidence of an open store's model.
  static func evidence(
    _ connection: SQLiteConnection, _ catalog: StoreCatalog, registry: ModelRegistry?
  ) throws -> StoreEvidence {
    try evidence(catalog, at: connection.url, registry: registry) { try EmbeddedModel(connection, catalog: catalog) }
  }
}

extension EmbeddedModel {
  init(_ connection: SQLiteConnection, catalog: StoreCatalog) throws {
    try self.init(of: catalog, at: connection.url) {
      try ModelRecord.modelText(connection)
    } archive: {
      guard catalog.schema.column("Z_CONTENT", of: "Z_MODELCACHE") != nil else { return nil }
      return try connection.first(.modelCache) { $0.data(0) }
    }
  }
}

/// Identifying a store from its catalog.
extension StoreIdentification {
  /// - Parameter embedded: Reads the embedded model.
  static func identify(
    _ catalog: StoreCatalog, at url: URL?, registry: ModelRegistry?, embedded: () throws -> EmbeddedModel
  ) throws -> IdentifiedStore {
    let evidence = try evidence(catalog, at: url, registry: registry, embedded: embedded)
    let found = try evidence.identify(among: registry)
    return IdentifiedStore(
      metadata: catalog.metadata, model: found.model, origin: found.origin, version: found.version,
      family: found.family,
      embeddedModelError: found.origin == .columns ? evidence.embeddedModelError : nil,
      descendsFromKnownVersion: found.version == nil
        && registry?.versions.contains { catalog.metadata.descends(from: $0.model) } == true,
      catalog: catalog)
  }

  /// The evidence of a store's model.
  ///
  /// The embedded model takes milliseconds to read and is skipped if Persist's record names a single version.
  private static func evidence(
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
