/// A store with an identified model.
public struct IdentifiedStore: Sendable {
  // One reference: the surveys of a migration contain stores, and would copy these fields with everything else.
  private let content: Content

  private final class Content: Sendable {
    let catalog: StoreCatalog
    let found: IdentifiedModel
    let embeddedModelError: PersistenceError?
    let descendsFromKnownVersion: Bool
    let map: Lazy<TableMap>

    init(
      _ catalog: StoreCatalog, as found: IdentifiedModel, embeddedModelError: PersistenceError?,
      descendsFromKnownVersion: Bool
    ) {
      self.catalog = catalog
      self.found = found
      self.embeddedModelError = embeddedModelError
      self.descendsFromKnownVersion = descendsFromKnownVersion
      map = Lazy { catalog.tableMap(of: found.model) }
    }
  }

  /// The store's metadata, including its identifier.
  public var metadata: StoreMetadata { catalog.metadata }
  /// The model with which the store's rows can be read.
  public var model: ManagedObjectModel { content.found.model }
  /// The evidence by which the model was identified.
  public var origin: ModelOrigin { content.found.origin }
  /// The registry's version of the model; nil if the registry doesn't contain it.
  public var version: ModelVersion? { content.found.version }
  /// The family of ``version``; for an unknown version the most likely one.
  public var family: ModelFamily? { content.found.family }
  /// The reason why the embedded model couldn't be used; nil unless the model was identified by the store's columns.
  public var embeddedModelError: PersistenceError? { content.embeddedModelError }
  /// Whether the store formerly had a version of the registry and now has none.
  var descendsFromKnownVersion: Bool { content.descendsFromKnownVersion }
  package var catalog: StoreCatalog { content.catalog }

  /// The layout of the model in the store.
  package var tableMap: TableMap { content.map.value }

  init(
    _ catalog: StoreCatalog, as found: IdentifiedModel, embeddedModelError: PersistenceError?,
    descendsFromKnownVersion: Bool
  ) {
    content = Content(
      catalog, as: found, embeddedModelError: embeddedModelError, descendsFromKnownVersion: descendsFromKnownVersion)
  }
}

extension IdentifiedStore {
  /// Whether the store is of a newer version than a model, as far as the store itself shows.
  ///
  /// It is newer if it had the model before. If the registry doesn't contain the store's version, the store is also
  /// newer if it had one of the registry's versions before, or if both versions have numbers and the store's is
  /// greater. The order of a registry's versions isn't evidence: it is based on names.
  package func isNewer(than model: ManagedObjectModel) -> Bool {
    if metadata.descends(from: model) { return true }
    guard version == nil else { return false }
    if descendsFromKnownVersion { return true }
    guard let own = VersionNumber(metadata.versionIdentifiers), let other = VersionNumber(model.versionIdentifiers)
    else { return false }
    // Versions of other applications are numbered independently.
    let isRelated = self.model.entities.contains { model.entitiesByName[$0.name] != nil }
    return isRelated && other < own
  }

  /// The store's version; a substitute if its model isn't in the registry.
  package var source: ModelVersion {
    let name = model.versionIdentifiers.first { !$0.isEmpty } ?? "the store's own model"
    return version ?? ModelVersion(name: name, model: model)
  }
}

/// Identifies the model of a store from the store's contents.
///
/// The command line shows the evidence as `modelFrom`, a ``ModelOrigin``: `fingerprint` if Persist's own record names a
/// version of the registry; `registry` if Core Data's hashes do, or if the structure of the embedded model matches a
/// version; `columns` if there is no embedded model and the tables fit a version; `embedded` if the embedded model is
/// used, because it is none of the versions or because there is no registry.
public enum StoreIdentification {}
