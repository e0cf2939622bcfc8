public import Foundation

/// A store whose model is known.
public struct IdentifiedStore: Sendable {
  public let metadata: StoreMetadata
  public let model: ManagedObjectModel
  /// How the model was found.
  public let origin: ModelOrigin
  /// The version of the registry that the model is; nil where it is none of them.
  public let version: ModelVersion?
  /// The family of ``version``; for an unknown version the one that it most likely belongs to.
  public let family: ModelFamily?
  /// Why the model that the store carries isn't used, where it carries one that can't be.
  public let embeddedModelError: PersistenceError?
  /// Whether the store once had a version of the registry, while it has none of them now.
  let descendsFromKnownVersion: Bool
  let catalog: StoreCatalog

  /// Where everything of the model stands in the store.
  var tableMap: TableMap { catalog.tableMap(of: model) }
}

/// Finds out which model a store has, by what it says of itself.
///
/// `modelFrom` of the command line says how, as a ``ModelOrigin``: `fingerprint` where Persist's own note names a
/// version of the registry; `registry` where Core Data's hashes do, or where the structure of the store's own model is
/// that of a version; `columns` where there is no such model and the tables fit a version; `embedded` where the store's
/// own model is used, because it is none of the versions or because there is no registry.
public enum StoreIdentification {
  /// Nothing is written and no file comes up beside the store.
  ///
  /// - Parameter registry: the versions to look among; nil leaves the store's own model.
  /// - Throws: ``PersistenceError/Code/missingSourceModel``, which names the nearest version and every difference;
  ///   ``PersistenceError/Code/notAStore``, ``PersistenceError/Code/storeDamaged`` and errors of opening.
  public static func identify(storeAt url: URL, registry: ModelRegistry? = nil) throws -> IdentifiedStore {
    try SQLiteConnection.reading(url) { try identify($0, registry: registry) }
  }

  /// What a store says of itself, without looking for its model.
  public static func metadata(storeAt url: URL) throws -> StoreMetadata {
    try SQLiteConnection.reading(url) { connection in try StoreCatalog(connection).metadata }
  }

  /// Finds the model of an open store; all that is read is of one state.
  ///
  /// - Parameter known: what was read of the store before, which is used as far as it still holds.
  static func identify(
    _ connection: SQLiteConnection, registry: ModelRegistry?, _ known: StoreCatalog? = nil
  ) throws -> IdentifiedStore {
    try connection.readTransaction {
      let catalog = try known.flatMap { try $0.isCurrent(connection) ? $0 : nil } ?? StoreCatalog(connection)
      let evidence = try evidence(connection, catalog, registry: registry)
      let found = try evidence.identify(among: registry)
      return IdentifiedStore(
        metadata: catalog.metadata, model: found.model, origin: found.origin, version: found.version,
        family: found.family,
        embeddedModelError: found.origin == .columns ? evidence.embeddedModelError : nil,
        descendsFromKnownVersion: found.version == nil
          && registry?.versions.contains { catalog.metadata.descends(from: $0.model) } == true,
        catalog: catalog)
    }
  }

  /// What a store tells of its model.
  ///
  /// The store's own model takes milliseconds to read and is left out where Persist's note names one version alone.
  static func evidence(
    _ connection: SQLiteConnection, _ catalog: StoreCatalog, registry: ModelRegistry?
  ) throws -> StoreEvidence {
    var evidence = StoreEvidence(
      url: connection.url, persistFingerprints: catalog.record?.fingerprints, modelDigest: catalog.record?.modelDigest,
      coreDataHashes: catalog.metadata.versionHashes, versionIdentifiers: catalog.metadata.versionIdentifiers
    ) { model in
      catalog.schemaDifferences(from: model)
    }
    if let registry, evidence.namesOneVersion(of: registry) { return evidence }
    switch try EmbeddedModel(connection, catalog: catalog) {
    case .none: break
    case .model(let model):
      evidence.embeddedModel = model
      let gaps = catalog.tableMap(of: model).differences
      if !gaps.isEmpty {
        evidence.embeddedModelError = PersistenceError(
          .incompatibleModel, at: PersistenceError.Place(store: connection.url, key: "embedded model"),
          "The embedded model isn't that of the store's tables: \(gaps.joined(separator: " "))")
      }
    case .unusable(let error): evidence.embeddedModelError = error
    }
    return evidence
  }
}
