public import Foundation

/// A model, its stores and a context for the main actor: everything most applications need.
///
/// ```swift
/// let container = try PersistentContainer(name: "Shop")     // finds Shop.xcdatamodeld or its like
/// try await container.loadPersistentStores()                // opens Shop.sqlite, migrates it to the newest model
/// let items = try container.viewContext.fetch(FetchRequest("Item", sortedBy: "name"))
/// ```
///
/// In one line, with automatic migration: `let container = try PersistentContainer.opened(name: "Shop")`.
public final class PersistentContainer: Sendable {
  /// The name of the model and of the store's file.
  public let name: String
  /// The coordinator of the container's stores; it has none before ``loadPersistentStores()-8c06n``.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  private let descriptions: LockProtected<[PersistentStoreDescription]>
  private let filters: LockProtected<[String: FetchPredicate]>
  private let view: ViewContext

  /// Creates a container for the model with a name, without opening its stores.
  ///
  /// - Parameters:
  ///   - name: The name of the model file without its extension: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom` or
  ///     a Persist model `.json`. Also the name of the store.
  ///   - folder: The model's folder; nil to search the resources of the program and its loaded bundles, the
  ///     executable's folder and the working directory.
  /// - Throws: ``PersistenceError/Code/modelNotFound``, with every searched folder; errors of reading the model.
  public convenience init(name: String, modelsIn folder: URL? = nil) throws {
    let registry = try ModelSearch(name: name, in: folder).registry()
    self.init(name: name, model: registry.current, registry: registry)
  }

  /// Creates a container for a model, without opening its stores.
  ///
  /// - Parameters:
  ///   - name: The name of the store's file, without extension.
  ///   - model: The model of the stores.
  ///   - registry: Every known version of the model, for migrating stores.
  public init(name: String, model: ManagedObjectModel, registry: ModelRegistry? = nil) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(model: model, registry: registry)
    let filters = LockProtected<[String: FetchPredicate]>(Dictionary())
    self.filters = filters
    view = ViewContext(persistentStoreCoordinator) { filters.withLock { $0 } }
    let file = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    descriptions = LockProtected([PersistentStoreDescription(url: file)])
  }

  /// Creates a container for a model, with the labels of Core Data: ``init(name:model:registry:)`` without a registry.
  public convenience init(name: String, managedObjectModel model: ManagedObjectModel) {
    self.init(name: name, model: model)
  }

  /// Opens the store at a URL with the newest model of a folder. Creates it if it doesn't exist.
  ///
  /// - Parameters:
  ///   - url: The store's file.
  ///   - models: A folder or file with every version of the model; see ``ModelRegistry``.
  ///   - options: `.automaticMigration` migrates an older store to the newest model.
  /// - Throws: The errors of reading the models and of ``PersistentStoreCoordinator/addStore(at:options:)``.
  public convenience init(at url: URL, models: URL, options: StoreOptions = StoreOptions()) throws {
    let registry = try ModelRegistry(contentsOf: models)
    try self.init(at: url, model: registry.current, registry: registry, options: options)
  }

  /// Opens the store at a URL with a model. Creates it if it doesn't exist.
  public convenience init(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry? = nil, options: StoreOptions = StoreOptions()
  ) throws {
    self.init(name: url.deletingPathExtension().lastPathComponent, model: model, registry: registry)
    persistentStoreDescriptions = [PersistentStoreDescription(type: .sqlite, url: url, options: options)]
    try loadPersistentStores()
  }

  /// Opens a store in a file or on a server with a model. Creates it if it doesn't exist.
  ///
  /// ```swift
  /// let container = try PersistentContainer(
  ///   at: .postgreSQL("postgresql://shop@db.example.com/shop"), model: model, options: .automaticMigration)
  /// ```
  public convenience init(
    at location: StoreLocation, model: ManagedObjectModel, registry: ModelRegistry? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let description = PersistentStoreDescription(at: location, options: options)
    let name =
      switch location {
      case .memory: "Memory"
      case .file(let url): url.deletingPathExtension().lastPathComponent
      case .server(let address): address.schema
      }
    self.init(name: name, model: model, registry: registry)
    persistentStoreDescriptions = [description]
    try loadPersistentStores()
  }

  /// Creates a container with a store in memory, for tests and previews.
  public convenience init(inMemory model: ManagedObjectModel) throws {
    self.init(name: "Memory", model: model)
    persistentStoreDescriptions = [.inMemory]
    try loadPersistentStores()
  }

  /// Returns a container for the model with a name, with its store opened and migrated to the newest model.
  ///
  /// - Parameters: As in ``init(name:modelsIn:)``.
  /// - Throws: The errors of ``init(name:modelsIn:)`` and ``loadPersistentStores()-8c06n``.
  public static func opened(name: String, modelsIn folder: URL? = nil) throws -> PersistentContainer {
    let container = try PersistentContainer(name: name, modelsIn: folder)
    try container.loadPersistentStores()
    return container
  }

  /// The container's current model: that of its coordinator.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// The stores to load. Initially one, `<name>.sqlite` in ``defaultDirectoryURL()``, migrated automatically.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// The main actor's context, always the same.
  @MainActor public var viewContext: ManagedObjectContext { view.context }
  /// Whether ``viewContext`` has been used.
  var usesViewContext: Bool { view.isUsed }

  /// The ``ManagedObjectContext/defaultFilters`` of contexts that the container creates from now on. Set them before
  /// the first use of ``viewContext``.
  public var defaultFilters: [String: FetchPredicate] {
    get { filters.withLock { $0 } }
    set { filters.withLock { $0 = newValue } }
  }

  /// Adds the condition of a request to every request for the same entity, in contexts that the container creates from
  /// now on.
  ///
  /// ```swift
  /// container.filterByDefault(Note.where(\.deletedAt == nil))      // soft deletion
  /// ```
  ///
  /// - Parameter request: The entity and the condition, which replaces an earlier one of the entity; a request without
  ///   condition removes it. The other parts of the request are ignored.
  public func filterByDefault<Result>(_ request: FetchRequest<Result>) {
    filters.withLock { $0[request.entityName] = request.predicate }
  }

  /// Returns a new context.
  public func newContext() -> ManagedObjectContext {
    let context = ManagedObjectContext(persistentStoreCoordinator)
    context.defaultFilters = defaultFilters
    return context
  }

  /// Returns a new context for work off the main actor, owned by the caller.
  ///
  /// An actor that uses a context for a long time should be a ``ContextActor``.
  public func newBackgroundContext() -> ManagedObjectContext { newContext() }
}

/// The main actor's context, created on first use.
@MainActor
private final class ViewContext {
  private let coordinator: PersistentStoreCoordinator
  private let filters: @Sendable () -> [String: FetchPredicate]
  private let used = LockProtected(false)
  private(set) lazy var context: ManagedObjectContext = {
    used.withLock { $0 = true }
    let context = ManagedObjectContext(coordinator)
    context.defaultFilters = filters()
    return context
  }()

  /// - Parameter filters: The default filters of the container when the context is created.
  nonisolated init(
    _ coordinator: PersistentStoreCoordinator, filters: @escaping @Sendable () -> [String: FetchPredicate]
  ) {
    self.coordinator = coordinator
    self.filters = filters
  }

  /// Whether the context has been used.
  nonisolated var isUsed: Bool { used.withLock { $0 } }
}
