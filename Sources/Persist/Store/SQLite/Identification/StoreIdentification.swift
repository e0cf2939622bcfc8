public import Foundation

/// A store with an identified model.
public struct IdentifiedStore: Sendable {
  public let metadata: StoreMetadata
  public let model: ManagedObjectModel
  /// The evidence by which the model was identified.
  public let origin: ModelOrigin
  /// The registry's version of the model; nil if the registry doesn't contain it.
  public let version: ModelVersion?
  /// The family of ``version``; for an unknown version the most likely one.
  public let family: ModelFamily?
  /// The reason why the embedded model isn't used, if there is one that can't be.
  public let embeddedModelError: PersistenceError?
  /// Whether the store formerly had a version of the registry and now has none.
  let descendsFromKnownVersion: Bool
  let catalog: StoreCatalog

  /// The layout of the model in the store.
  var tableMap: TableMap { catalog.tableMap(of: model) }
}

/// Identifies the model of a store from the store's contents.
///
/// The command line shows the evidence as `modelFrom`, a ``ModelOrigin``: `fingerprint` if Persist's own record names a
/// version of the registry; `registry` if Core Data's hashes do, or if the structure of the embedded model matches a
/// version; `columns` if there is no embedded model and the tables fit a version; `embedded` if the embedded model is
/// used, because it is none of the versions or because there is no registry.
public enum StoreIdentification {
  /// Nothing is written, and no file is created beside the store.
  ///
  /// - Parameter registry: The candidate versions; nil uses the embedded model.
  /// - Throws: ``PersistenceError/Code/missingSourceModel``, which names the nearest version and every difference;
  ///   ``PersistenceError/Code/notAStore``, ``PersistenceError/Code/storeDamaged`` and errors of opening.
  public static func identify(storeAt url: URL, registry: ModelRegistry? = nil) throws -> IdentifiedStore {
    try SQLiteConnection.reading(url) { try identify($0, registry: registry) }
  }

  /// The metadata of a store, without identifying its model.
  public static func metadata(storeAt url: URL) throws -> StoreMetadata {
    try SQLiteConnection.reading(url) { connection in try StoreCatalog(connection).metadata }
  }

  /// Identifies the model of an open store, from one consistent state of it.
  ///
  /// - Parameter known: A catalog read before, which is reused if it is still valid.
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

  /// The evidence of a store's model.
  ///
  /// The embedded model takes milliseconds to read and is skipped if Persist's record names a single version.
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
