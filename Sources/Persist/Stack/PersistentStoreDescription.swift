public import Foundation

/// What a container needs to know to open a store.
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
  /// The store's file; nil for a store in memory.
  public var url: URL?
  public var type: StoreType
  /// How the store is opened. Brings an older store to the container's model, unless another migrator is set.
  public var options: StoreOptions

  /// - Parameters:
  ///   - url: the store's file.
  ///   - configuration: the configuration of the model whose entities the store holds; nil for all.
  ///   - isReadOnly: whether the store is only read; it is then neither made nor migrated.
  public init(url: URL, configuration: String? = nil, isReadOnly: Bool = false) {
    self.url = url
    type = .sqlite
    options = isReadOnly ? StoreOptions(isReadOnly: true) : .automaticMigration
    options.configuration = configuration
  }

  /// A store of a type.
  ///
  /// - Parameter url: nil for a store in memory.
  public init(type: StoreType, url: URL? = nil, options: StoreOptions = .automaticMigration) {
    self.url = url
    self.type = type
    self.options = options
  }

  /// A store that lives in memory for as long as its container.
  public static var inMemory: PersistentStoreDescription { PersistentStoreDescription(type: .inMemory) }

  public var configuration: String? {
    get { options.configuration }
    set { options.configuration = newValue }
  }

  public var isReadOnly: Bool {
    get { options.isReadOnly }
    set { options.isReadOnly = newValue }
  }

  /// Whether a store of another version is brought to the container's model; where not, loading it throws.
  public var shouldMigrateStoreAutomatically: Bool {
    get { options.migrator != nil }
    set { options.migrator = newValue ? options.migrator ?? AutomaticMigrator() : nil }
  }
}
