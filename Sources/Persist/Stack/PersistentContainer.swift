public import Foundation

/// A model, its stores and a context for the main actor: what most applications need.
///
/// ```swift
/// let container = try PersistentContainer(name: "Shop")     // finds Shop.xcdatamodeld or its like
/// try await container.loadPersistentStores()                // opens Shop.sqlite, brings it to the newest model
/// let items = try container.viewContext.fetch(FetchRequest("Item", sortedBy: "name"))
/// ```
///
/// In one line, with automatic migration: `let container = try PersistentContainer.opened(name: "Shop")`.
public final class PersistentContainer: Sendable {
  /// The name of the model and of the store's file.
  public let name: String
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  private let descriptions: Guarded<[PersistentStoreDescription]>
  private let view: ViewContext

  /// A container for the model with a name, which isn't open yet.
  ///
  /// - Parameters:
  ///   - name: of the model's file without its extension: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom` or a
  ///     Persist model `.json`. The store is called so too.
  ///   - folder: where the model is; nil to look in the resources of the program and of the bundles that it loaded,
  ///     beside its executable, and in the working folder.
  /// - Throws: ``PersistenceError/Code/modelNotFound``, with every place that was looked at; what reading the model
  ///   throws.
  public convenience init(name: String, modelsIn folder: URL? = nil) throws {
    let registry = try ModelSearch(name: name, in: folder).registry()
    self.init(name: name, model: registry.current, registry: registry)
  }

  /// A container for a model, which isn't open yet.
  ///
  /// - Parameters:
  ///   - name: the name of the store's file, without extension.
  ///   - registry: every known version of the model, for stores that are to be migrated.
  public init(name: String, model: ManagedObjectModel, registry: ModelRegistry? = nil) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(model: model, registry: registry)
    view = ViewContext(persistentStoreCoordinator)
    let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    descriptions = Guarded([PersistentStoreDescription(url: file)])
  }

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
  public convenience init(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry? = nil, options: StoreOptions = StoreOptions()
  ) throws {
    self.init(name: url.deletingPathExtension().lastPathComponent, model: model, registry: registry)
    persistentStoreDescriptions = [PersistentStoreDescription(type: .sqlite, url: url, options: options)]
    try loadPersistentStores()
  }

  /// A container whose store lives in memory, for tests and previews.
  public convenience init(inMemory model: ManagedObjectModel) throws {
    self.init(name: "Memory", model: model)
    persistentStoreDescriptions = [.inMemory]
    try loadPersistentStores()
  }

  /// A container for the model with a name, its store open and of the newest model.
  ///
  /// - Parameters: see ``init(name:modelsIn:)``.
  /// - Throws: what ``init(name:modelsIn:)`` and ``loadPersistentStores()`` throw.
  public static func opened(name: String, modelsIn folder: URL? = nil) throws -> PersistentContainer {
    let container = try PersistentContainer(name: name, modelsIn: folder)
    try container.loadPersistentStores()
    return container
  }

  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// The stores to load: at first one, `<name>.sqlite` in ``defaultDirectoryURL()``, migrated automatically.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// A context for the main actor, the same each time.
  @MainActor public var viewContext: ManagedObjectContext { view.context }
  /// Whether anybody has asked for ``viewContext``.
  var usesViewContext: Bool { view.isUsed }

  /// A context of its own, for whoever asks.
  public func newContext() -> ManagedObjectContext { ManagedObjectContext(persistentStoreCoordinator) }

  /// A context of its own, for work beside the main actor: whoever asks for it owns it.
  ///
  /// An actor that works with one for long is a ``ContextActor``.
  public func newBackgroundContext() -> ManagedObjectContext { ManagedObjectContext(persistentStoreCoordinator) }
}

/// The main actor's context, made when it is first asked for.
@MainActor
private final class ViewContext {
  private let coordinator: PersistentStoreCoordinator
  private let used = Guarded(false)
  private(set) lazy var context: ManagedObjectContext = {
    used.withLock { $0 = true }
    return ManagedObjectContext(coordinator)
  }()

  nonisolated init(_ coordinator: PersistentStoreCoordinator) { self.coordinator = coordinator }

  /// Whether anybody has asked for the context.
  nonisolated var isUsed: Bool { used.withLock { $0 } }
}
