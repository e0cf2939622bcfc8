public import Foundation
public import Persist

// Unchecked: Persist's coordinator is Sendable, and what is added to it here is behind a lock.
/// The stores of a model, which contexts read and change.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  private let model: NSManagedObjectModel
  /// The model.
  open var managedObjectModel: NSManagedObjectModel { model }
  /// A name for the application's own purposes.
  open var name: String?
  let base: PersistentStoreCoordinator
  /// The class of each entity.
  let classes: [String: ManagedObject.Type]
  private let stores = Locked<[NSPersistentStore]>([])
  let queue = ContextQueue(.privateQueueConcurrencyType)

  /// Creates a coordinator without stores. A model that can't be used stops the program.
  public init(managedObjectModel model: NSManagedObjectModel) {
    self.model = model
    let persistModel: ManagedObjectModel
    do { persistModel = try model.persistModel() } catch { stop("The model can't be used: \(error)") }
    base = PersistentStoreCoordinator(model: persistModel, registry: model.registry)
    classes = model.classes
    super.init()
    relay = StoreNotificationRelay(self)
    EntityDescriptions.open(model)
  }

  private var relay: StoreNotificationRelay?

  /// Wraps a coordinator that Persist created.
  init(_ base: PersistentStoreCoordinator, model: NSManagedObjectModel) {
    self.model = model
    self.base = base
    classes = Dictionary(uniqueKeysWithValues: base.managedObjectModel.entities.map { ($0.name, NSManagedObject.self) })
    super.init()
  }

  /// A coordinator without entities, of contexts whose coordinator wasn't set.
  static let empty = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())

  /// The types of stores that can be added. Stores of an application's own can't be registered.
  open class var registeredStoreTypes: [String: NSValue] {
    [NSSQLiteStoreType: NSNumber(value: true), NSInMemoryStoreType: NSNumber(value: true)]
  }

  /// The open stores, in the order in which they were added.
  open var persistentStores: [NSPersistentStore] {
    let open = base.persistentStores
    return stores.withLock { stores in
      stores.removeAll { store in !open.contains { $0.identifier == store.identifier } }
      for info in open where !stores.contains(where: { $0.identifier == info.identifier }) {
        stores.append(NSPersistentStore(info, of: self, options: nil))
      }
      return stores
    }
  }

  /// Returns the model that a store was last opened with, as the store records it; nil if it records none.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open class func cachedModelForPersistentStore(
    with url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectModel {
    try CoreData.bridging {
      NSManagedObjectModel(try StoreIdentification.identify(storeAt: url).model, registry: nil)
    }
  }

  /// Returns the open store of a URL.
  open func persistentStore(for url: URL) -> NSPersistentStore? {
    persistentStores.first { $0.url == url || $0.url?.standardizedFileURL == url.standardizedFileURL }
  }

  /// Returns the URL of an open store.
  open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

  /// Adds a store, creating or migrating it if necessary.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  @discardableResult
  open func addPersistentStore(
    ofType type: String, configurationName: String?, at url: URL?, options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try bridging {
      let storeOptions = try StoreOptions(options, configuration: configurationName, model: managedObjectModel)
      let info: StoreInfo
      switch type {
      case NSInMemoryStoreType: info = try base.addInMemoryStore(options: storeOptions)
      case NSSQLiteStoreType:
        guard let url else {
          throw PersistenceError(.fileAccess, "A SQLite store needs a URL.", fix: "Pass the URL of its file.")
        }
        info =
          url.path == "/dev/null"
          ? try base.addInMemoryStore(options: storeOptions) : try base.addStore(at: url, options: storeOptions)
      default:
        throw PersistenceError(
          PersistenceError.Code(NSPersistentStoreInvalidTypeError, "storeTypeMismatch"), at: .store(url),
          "There are no stores of the type '\(type)'.", fix: "The types are SQLite and InMemory.")
      }
      let store = NSPersistentStore(info, of: self, options: options)
      stores.withLock { $0.append(store) }
      return store
    }
  }

  /// Adds a store, creating or migrating it if necessary.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func addPersistentStore(
    with description: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    guard description.shouldAddStoreAsynchronously else { return add(description, block) }
    queue.run { self.add(description, block) }
  }

  private func add(
    _ description: NSPersistentStoreDescription, _ block: (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    do {
      try addPersistentStore(
        ofType: description.type, configurationName: description.configuration, at: description.url,
        options: description.options)
    } catch {
      return block(description, error)
    }
    block(description, nil)
  }

  /// Closes a store.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func remove(_ store: NSPersistentStore) throws {
    guard let info = store.info else { return }
    try bridging { try base.remove(info) }
    stores.withLock { $0.removeAll { $0 === store } }
  }

  /// Returns the metadata of an open store.
  open func metadata(for store: NSPersistentStore) -> [String: Any] {
    guard let info = store.info, let metadata = try? base.metadata(of: info) else { return [:] }
    return MetadataDictionary.dictionary(metadata)
  }

  /// Sets metadata: those of an open store reach its file with the next save, others at once.
  open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    guard let info = store.info, let old = try? base.metadata(of: info) else { return }
    try? base.setMetadata(MetadataDictionary.metadata(metadata ?? [:], over: old), of: info)
  }

  /// Returns the identifier for a URI of an open store.
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    base.managedObjectID(forURIRepresentation: url)
  }

  /// Runs a block on the coordinator's queue, later.
  open func perform(_ block: @escaping () -> Void) { queue.run(block) }

  /// Replaces the URL that an open store is found by.
  @discardableResult
  open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    guard let info = store.info else { return false }
    return (try? base.setURL(url, for: info)) != nil
  }

  /// Reads the metadata of a store without opening it.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open class func metadataForPersistentStore(
    ofType type: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try CoreData.bridging { MetadataDictionary.dictionary(try PersistentStoreCoordinator.metadata(at: url)) }
  }

  /// Sets metadata: those of an open store reach its file with the next save, others at once.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType type: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws {
    try CoreData.bridging {
      let old = try PersistentStoreCoordinator.metadata(at: url)
      try PersistentStoreCoordinator.setMetadata(MetadataDictionary.metadata(metadata ?? [:], over: old), at: url)
    }
  }

  /// Deletes a store's files.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func destroyPersistentStore(
    at url: URL, ofType type: String, options: [AnyHashable: Any]? = nil
  ) throws {
    guard type != NSInMemoryStoreType, url.path != "/dev/null" else { return }
    try bridging { try base.destroyPersistentStore(at: url) }
  }

  /// Replaces a store's contents by those of another one.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func replacePersistentStore(
    at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
    sourceOptions: [AnyHashable: Any]? = nil, ofType type: String
  ) throws {
    try bridging { try base.replacePersistentStore(at: destination, withPersistentStoreFrom: source) }
  }

  /// Moves an open store to another file or type.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  @discardableResult
  open func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType type: String
  ) throws -> NSPersistentStore {
    try bridging {
      guard let info = store.info else { return store }
      let moved = try base.migratePersistentStore(
        info, to: type == NSInMemoryStoreType ? nil : url,
        options: StoreOptions(options, configuration: info.configuration, model: managedObjectModel))
      stores.withLock { $0.removeAll { $0 === store } }
      let result = NSPersistentStore(moved, of: self, options: options)
      stores.withLock { $0.append(result) }
      return result
    }
  }

  func bridging<Result>(_ body: () throws -> Result) throws -> Result { try CoreData.bridging(in: nil, body) }

  /// Executes a request in a context, as the context's own methods do.
  ///
  /// - Returns: The array of a fetch request, or the result of another one.
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
    if let request = request as? any FetchingRequest { return try request.results(in: context) }
    return try context.execute(request)
  }

  /// Completes postponed parts of a migration. There are none here.
  open func finishDeferredLightweightMigration() throws {}

  /// Completes one postponed part of a migration. There are none here.
  ///
  /// - Returns: Whether there are further parts.
  open func finishDeferredLightweightMigrationTask() throws -> Bool { false }

  /// Returns the end of the history of stores; nil if none has one.
  open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    let infos = stores?.compactMap { ($0 as? NSPersistentStore)?.info }
    guard let token = try? base.currentPersistentHistoryToken(fromStores: infos) else { return nil }
    return NSPersistentHistoryToken(token)
  }
}
