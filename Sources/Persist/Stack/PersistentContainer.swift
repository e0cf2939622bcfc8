public import Foundation

/// A coordinator with one store, ready to work with: what most applications need.
///
/// ```swift
/// let container = try PersistentContainer(at: url, models: modelsFolder, options: .automaticMigration)
/// let context = container.newContext()
/// ```
public final class PersistentContainer: Sendable {
  public let coordinator: PersistentStoreCoordinator

  /// Opens the store of a file with the newest model of a folder; makes it where there is none.
  ///
  /// - Parameters:
  ///   - url: the store's file.
  ///   - models: a folder or file with every version of the model; see ``ModelRegistry``.
  ///   - options: `.automaticMigration` brings an older store to the newest model.
  /// - Throws: what reading the models and ``PersistentStoreCoordinator/addStore(at:options:)`` throw.
  public convenience init(at url: URL, models: URL, options: StoreOptions = StoreOptions()) throws {
    let registry = try ModelRegistry(contentsOf: models)
    try self.init(at: url, model: registry.current, registry: registry, options: options)
  }

  /// Opens the store of a file with a model; makes it where there is none.
  public init(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry? = nil, options: StoreOptions = StoreOptions()
  ) throws {
    coordinator = PersistentStoreCoordinator(model: model, registry: registry)
    try coordinator.addStore(at: url, options: options)
  }

  /// A container whose store lives in memory, for tests and previews.
  public init(inMemory model: ManagedObjectModel) throws {
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addInMemoryStore()
  }

  public var model: ManagedObjectModel { coordinator.model }

  /// A context of its own, for whoever asks.
  public func newContext() -> ManagedObjectContext { ManagedObjectContext(coordinator) }
}
