public import Foundation
import Synchronization

/// Connects stores to a model: opens stores, routes entities to them, and converts identifiers to URIs and back.
///
/// Contexts use stores through a coordinator. It is safe to share: any number of contexts, on any threads, can use one
/// coordinator.
///
/// ```swift
/// let registry = try ModelRegistry(contentsOf: modelsFolder)
/// let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
/// try coordinator.addStore(at: url, options: .automaticMigration)
/// let context = ManagedObjectContext(coordinator)
/// ```
public final class PersistentStoreCoordinator: Sendable {
  /// The model of every store that the coordinator opens; stores of another version are migrated or rejected.
  public let managedObjectModel: ManagedObjectModel
  /// Every known version of the model, for migrating stores; nil if only ``managedObjectModel`` is known.
  public let registry: ModelRegistry?
  let layouts: EntityLayouts
  /// Informs contexts of each other's saves.
  let savedChangesPost = SavedChangesBroadcaster()
  /// Notifies the program of changes to the stores by anyone.
  let remoteChangePost = RemoteChangePost()
  /// The threads that read and write the stores for asynchronous callers.
  package let threads = StoreThreads()
  /// The findings that contexts share. Their type belongs to the contexts' folder, which this one doesn't know.
  let contextFacts = LockProtected<(any AnyObject & Sendable)?>(nil)
  private let open = LockProtected<[any PersistentStore]>([])
  private let generation = Atomic<Int>(0)

  /// Creates a coordinator without stores; add them with `addStore`.
  ///
  /// - Parameters:
  ///   - model: The model that the program uses.
  ///   - registry: Every known version, for migrating older stores; nil if there are no others.
  public init(model: ManagedObjectModel, registry: ModelRegistry? = nil) {
    managedObjectModel = model
    self.registry = registry
    layouts = EntityLayouts(of: model)
  }

  /// Creates a coordinator without stores, with the label of Core Data: ``init(model:registry:)`` without a registry.
  public convenience init(managedObjectModel model: ManagedObjectModel) { self.init(model: model) }

  /// The open stores, in the order in which they were added.
  public var persistentStores: [StoreInfo] { openStores.map(StoreInfo.init) }

  /// Returns the store at a URL, or nil if it isn't open here.
  public func store(at url: URL) -> StoreInfo? {
    if openStores.isEmpty { return nil }
    let wanted = url.isFileURL ? url.standardizedFileURL : StoreLocation(url).url?.withoutSecrets
    return openStores.first { ($0.url?.isFileURL == true ? $0.url?.standardizedFileURL : $0.url) == wanted }
      .map(StoreInfo.init)
  }

  /// Returns the identifier that a URI represents.
  ///
  /// - Returns: Nil if the URI doesn't identify an object, or its entity or store is unknown to this coordinator.
  ///   Whether the row exists isn't checked; use ``ManagedObjectContext/existingObject(with:)``.
  public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
    guard let id = ManagedObjectID(uriRepresentation: uri),
      managedObjectModel.entitiesByName[id.entityName] != nil
    else { return nil }
    // Hosts in URLs are case-insensitive: UUIDs of stores are compared that way, and the store's own spelling is used.
    let identifier = id.storeIdentifier.lowercased()
    guard let store = openStores.first(where: { $0.identifier.lowercased() == identifier }) else { return nil }
    return ManagedObjectID(entityName: id.entityName, storeIdentifier: store.identifier, key: id.key)
  }
}

/// Information about an open store.
public struct StoreInfo: Sendable, Hashable {
  /// The UUID in the store's metadata.
  public let identifier: String
  /// The kind of store: a file or a store in memory.
  public let type: StoreType
  /// Without a password; nil for a store in memory.
  public let url: URL?
  /// The configuration whose entities the store contains; nil for all.
  public let configuration: String?
  /// Whether saving to the store is rejected.
  public let isReadOnly: Bool

  package init(_ store: any PersistentStore) { self.init(store, at: store.url) }

  /// Describes a store at another place.
  init(_ store: any PersistentStore, at url: URL?) {
    identifier = store.identifier
    type = StoreType(rawValue: store.type)
    self.url = url.flatMap { $0.isFileURL ? $0 : StoreLocation($0).url?.withoutSecrets }
    configuration = store.configuration
    isReadOnly = store.isReadOnly
  }
}

extension PersistentStoreCoordinator {
  package var openStores: [any PersistentStore] { open.withLock { $0 } }
  /// Informs the contexts that automatically merge saves of changes that were written without a context.
  package func announce(_ changes: () -> SavedChanges) {
    if savedChangesPost.hasReceivers { savedChangesPost.deliver(changes(), from: nil) }
  }
  var storeCount: Int { open.withLock { $0.count } }
  /// Changes when a store is added, removed or replaced.
  package var storeGeneration: Int { generation.load(ordering: .relaxed) }
  /// The longest time that a save may wait for other writers.
  package var busyTimeout: Duration { openStores.map(\.busyTimeout).max() ?? StoreOptions().busyTimeout }

  /// Adds an open store.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if a store with the same identifier is already open, such as a
  ///   copy of the same file; ``PersistenceError/Code/modelNotFound`` if the model has no such configuration.
  @discardableResult
  package func add(_ store: any PersistentStore) throws -> StoreInfo {
    try requireConfiguration(store.configuration)
    let added = StoreInfo(store)
    post(Self.storesWillChangeNotification, under: Self.addedPersistentStoresKey, stores: [added])
    try open.withLock { stores in
      if let other = stores.first(where: { $0.identifier == store.identifier }) {
        throw PersistenceError(
          .storeOpenFailed, at: .store(store.url),
          "A store with the identifier \(store.identifier) is already open.",
          fix: "A copy of a store has the identifier of its original, here \(other.url?.path ?? "one in memory"); only "
            + "one of them can be open in a coordinator.")
      }
      stores.append(store)
    }
    generation.add(1, ordering: .relaxed)
    remoteChangePost.begin(store, of: self)
    post(Self.storesDidChangeNotification, under: Self.addedPersistentStoresKey, stores: [added])
    return added
  }

  /// Removes the store with an identifier, without closing it.
  func detachStore(withIdentifier identifier: String) -> (any PersistentStore)? {
    let store = open.withLock { stores in
      stores.firstIndex { $0.identifier == identifier }.map { stores.remove(at: $0) }
    }
    generation.add(1, ordering: .relaxed)
    // Ended after the removal: watching that begins in between is ended here too, or finds the store removed.
    remoteChangePost.end(identifier)
    // The same store may have been added again meanwhile, as long as it was still watched.
    if let added = openStore(identifier: identifier) { remoteChangePost.begin(added, of: self) }
    return store
  }

  /// Replaces an open store with another, without closing the old one.
  package func replace(_ old: any PersistentStore, with new: any PersistentStore) {
    open.withLock { stores in
      if let index = stores.firstIndex(where: { $0 === old }) { stores[index] = new }
    }
    generation.add(1, ordering: .relaxed)
    remoteChangePost.end(old.identifier)
    remoteChangePost.begin(new, of: self)
  }

  /// Watches an open store that continues elsewhere at its new place, if it is watched.
  func watchAgain(_ store: any PersistentStore) {
    remoteChangePost.end(store.identifier)
    remoteChangePost.begin(store, of: self)
  }

  func openStore(identifier: String) -> (any PersistentStore)? {
    open.withLock { stores in stores.first { $0.identifier == identifier } }
  }

  package func requireConfiguration(_ name: String?) throws {
    guard let name, managedObjectModel.description.configurations[name] == nil else { return }
    throw PersistenceError(
      .modelNotFound, "The model has no configuration '\(name)'.",
      fix: "It has \(managedObjectModel.description.configurations.keys.sorted().joined(separator: ", ")).")
  }

  /// Returns the stores that contain rows of an entity or its subentities, in the order in which they were added.
  func stores(holding entity: Entity) -> [any PersistentStore] {
    openStores.filter { store in managedObjectModel.hierarchy(of: entity).contains { holds(store, $0) } }
  }

  /// Returns the store for new objects of an entity: the first writable one that contains the entity.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``, or ``PersistenceError/Code/saveFailed`` if no store contains
  ///   the entity.
  func storeForInsert(of entity: Entity) throws -> any PersistentStore {
    let candidates = openStores.filter { holds($0, entity) }
    if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
    guard let readOnly = candidates.first else {
      throw PersistenceError(
        .saveFailed, at: .entity(entity.name), "No open store contains '\(entity.name)'.",
        fix: storeCount == 0
          ? "Add a store to the coordinator first." : "Add a store whose configuration has the entity.")
    }
    throw PersistenceError(
      .storeReadOnly, at: .init(entity: entity.name, store: readOnly.url),
      "The only store that contains '\(entity.name)' is open for reading only.")
  }

  /// Whether a store contains the rows of an entity, according to its configuration. A configuration with an entity
  /// also holds that entity's subentities.
  func holds(_ store: any PersistentStore, _ entity: Entity) -> Bool {
    let configurations = managedObjectModel.description.configurations
    guard let names = store.configuration.flatMap({ configurations[$0] }) else { return true }
    var next: Entity? = entity
    while let current = next {
      if names.contains(current.name) { return true }
      next = current.superentity
    }
    return false
  }
}

extension PersistentStoreCoordinator: Equatable {
  /// Whether two coordinators are the same object.
  public static func == (left: PersistentStoreCoordinator, right: PersistentStoreCoordinator) -> Bool { left === right }
}
