public import Foundation

/// The information that a container needs to open a store.
///
/// ```swift
/// let container = try PersistentContainer(name: "Shop")
/// container.persistentStoreDescriptions = [
///   PersistentStoreDescription(url: folder.appendingPathComponent("Shop.sqlite")),
///   PersistentStoreDescription(url: priceList, configuration: "Prices", isReadOnly: true),
/// ]
/// try container.loadPersistentStores()
/// ```
public struct PersistentStoreDescription: Sendable {
  /// The place of the store.
  public var location: StoreLocation
  /// The store's file, or the URL of its server without the password; nil for a store in memory.
  ///
  /// As in Core Data, the file `/dev/null` also means a store in memory.
  public var url: URL? {
    get {
      switch location {
      case .memory: nullDevice
      case .file(let url): url
      case .server(let address): address.url(showingSecrets: false)
      }
    }
    set {
      location = StoreLocation(newValue)
      nullDevice = location == .memory ? newValue : nil
    }
  }
  /// The URL that was set if it is `/dev/null`.
  private var nullDevice: URL?
  /// The type of the store: a file by default.
  public var type: StoreType
  /// The options for opening the store. They migrate an older store to the container's model, unless another migrator
  /// is set.
  public var options: StoreOptions

  /// - Parameters:
  ///   - url: The store's file, or the URL of its server.
  ///   - configuration: The model configuration whose entities the store contains; nil for all entities.
  ///   - isReadOnly: Whether the store is only read; it is then neither created nor migrated.
  public init(url: URL, configuration: String? = nil, isReadOnly: Bool = false) {
    self.init(at: StoreLocation(url), options: isReadOnly ? StoreOptions(isReadOnly: true) : .automaticMigration)
    options.configuration = configuration
    guard location == .memory else { return }
    type = .sqlite
    nullDevice = url
  }

  /// Creates the description of a store of a type.
  ///
  /// - Parameters:
  ///   - type: The type of the store.
  ///   - url: The store's file; nil for a store in memory.
  ///   - options: The options for opening the store.
  public init(type: StoreType, url: URL? = nil, options: StoreOptions = .automaticMigration) {
    location = StoreLocation(url)
    self.type = type
    self.options = options
    nullDevice = location == .memory ? url : nil
  }

  /// Creates the description of a store in a file, in memory or on a server.
  ///
  /// ```swift
  /// PersistentStoreDescription(at: try .postgreSQL("postgresql://shop@db.example.com/shop"))
  /// ```
  public init(at location: StoreLocation, options: StoreOptions = .automaticMigration) {
    self.location = location
    self.options = options
    type =
      switch location {
      case .memory: .inMemory
      case .file: .sqlite
      case .server: .postgreSQL
      }
  }

  /// A store in memory, which exists as long as its container.
  public static var inMemory: PersistentStoreDescription { PersistentStoreDescription(type: .inMemory) }

  /// Whether the store is in memory, by its type or by its URL.
  var isInMemory: Bool { type == .inMemory || type == .sqlite && location == .memory && nullDevice != nil }

  /// The model configuration whose entities the store contains; nil for all entities.
  public var configuration: String? {
    get { options.configuration }
    set { options.configuration = newValue }
  }

  /// Whether the store is only read. Nothing is then written, neither to the file nor beside it.
  public var isReadOnly: Bool {
    get { options.isReadOnly }
    set { options.isReadOnly = newValue }
  }

  /// Whether the store records who changes which objects: see ``StoreOptions/tracksHistory``.
  public var tracksHistory: Bool {
    get { options.tracksHistory }
    set { options.tracksHistory = newValue }
  }

  /// Whether a store with another model version is migrated to the container's model. If false, loading such a store
  /// throws.
  public var shouldMigrateStoreAutomatically: Bool {
    get { options.migrator != nil }
    set { options.migrator = newValue ? options.migrator ?? AutomaticMigrator() : nil }
  }

  /// Whether a migration may infer how the store's model became the container's, where no mapping model says it: see
  /// ``AutomaticMigrator/infersMapping``. Meaningful if ``shouldMigrateStoreAutomatically`` is true.
  public var shouldInferMappingModelAutomatically: Bool {
    get { (options.migrator as? AutomaticMigrator)?.infersMapping ?? false }
    set {
      guard var migrator = options.migrator as? AutomaticMigrator else { return }
      migrator.infersMapping = newValue
      options.migrator = migrator
    }
  }
}
