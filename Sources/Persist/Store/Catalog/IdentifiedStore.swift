/// A store with an identified model.
public struct IdentifiedStore: Sendable {
  /// The store's metadata, including its identifier.
  public let metadata: StoreMetadata
  /// The model with which the store's rows can be read.
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
