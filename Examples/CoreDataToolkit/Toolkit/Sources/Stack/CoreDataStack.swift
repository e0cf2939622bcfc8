import CoreData
import Foundation

/// A container whose store may live in memory.
public final class ToolkitContainer: NSPersistentContainer {
  public enum Kind: Equatable {
    case onDisk(URL)
    case inMemory
    case null
  }

  override public class func defaultDirectoryURL() -> URL {
    super.defaultDirectoryURL().appendingPathComponent("Toolkit", isDirectory: true)
  }

  public convenience init(name: String, model: NSManagedObjectModel, kind: Kind) {
    self.init(name: name, managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    switch kind {
    case .onDisk(let url):
      description.url = url
      description.type = NSSQLiteStoreType
    case .inMemory:
      description.type = NSInMemoryStoreType
    case .null:
      description.url = URL(fileURLWithPath: "/dev/null")
    }
    description.shouldAddStoreAsynchronously = false
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    description.setValue("WAL" as NSObject, forPragmaNamed: "journal_mode")
    description.setValue("1" as NSString, forPragmaNamed: "foreign_keys")
    persistentStoreDescriptions = [description]
  }

  override public func newBackgroundContext() -> NSManagedObjectContext {
    let context = super.newBackgroundContext()
    context.name = "background"
    context.transactionAuthor = "toolkit"
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    context.undoManager = nil
    return context
  }
}

public protocol CoreDataStacking: AnyObject {
  var viewContext: NSManagedObjectContext { get }
  func performAndSave(
    _ block: @escaping (NSManagedObjectContext) throws -> Void, completion: ((Result<Void, Error>) -> Void)?)
}

public enum StackError: Error, LocalizedError, Equatable {
  case storeNotLoaded(String)
  case unknown

  public var errorDescription: String? {
    switch self {
    case .storeNotLoaded(let reason): return "Store not loaded: \(reason)"
    case .unknown: return "Unknown"
    }
  }
}

public class CoreDataStack: CoreDataStacking {
  public let container: NSPersistentContainer
  private let writeQueue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()

  public lazy var viewContext: NSManagedObjectContext = {
    let context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.shouldDeleteInaccessibleFaults = true
    context.name = "view"
    return context
  }()

  public init(container: NSPersistentContainer) throws {
    self.container = container
    var loadError: Error?
    let group = DispatchGroup()
    container.persistentStoreDescriptions.forEach { _ in group.enter() }
    container.loadPersistentStores { description, error in
      if let error = error as NSError? {
        loadError = StackError.storeNotLoaded(
          "\(description.url?.lastPathComponent ?? "-"): \(error.localizedDescription), \(error.userInfo)")
      }
      group.leave()
    }
    group.wait()
    if let loadError = loadError { throw loadError }
  }

  public func performAndSave(
    _ block: @escaping (NSManagedObjectContext) throws -> Void, completion: ((Result<Void, Error>) -> Void)? = nil
  ) {
    container.performBackgroundTask { context in
      do {
        try block(context)
        try context.saveOrRollback()
        completion?(.success(()))
      } catch {
        context.rollback()
        completion?(.failure(error))
      }
    }
  }

  public func enqueue(_ block: @escaping (NSManagedObjectContext) -> Void) {
    writeQueue.addOperation { [container] in
      let context = container.newBackgroundContext()
      context.performAndWait {
        block(context)
        try? context.save()
      }
    }
  }

  public func waitForWrites() { writeQueue.waitUntilAllOperationsAreFinished() }

  public func destroy() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores {
      guard let url = store.url else { continue }
      try coordinator.remove(store)
      if store.type == NSSQLiteStoreType {
        try coordinator.destroyPersistentStore(at: url, ofType: store.type, options: store.options)
      }
    }
  }

  public func childContext(concurrencyType: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType)
    -> NSManagedObjectContext
  {
    let child = NSManagedObjectContext(concurrencyType: concurrencyType)
    child.parent = viewContext
    child.undoManager = UndoManager()
    return child
  }
}

extension NSPersistentStoreCoordinator {
  public static func metadata(at url: URL) -> [String: Any]? {
    return try? NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
  }

  public func setMetadata(object: Any?, with key: String, for store: NSPersistentStore) {
    var current = metadata(for: store)
    current[key] = object
    setMetadata(current, for: store)
  }

  public static func replaceStore(at targetURL: URL, withStoreAt sourceURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    try coordinator.replacePersistentStore(
      at: targetURL, destinationOptions: nil, withPersistentStoreFrom: sourceURL, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
  }

  public static func destroyStore(at storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    if #available(iOS 15.0, macOS 12.0, *) {
      try coordinator.destroyPersistentStore(
        at: storeURL, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
    } else {
      try coordinator.destroyPersistentStore(at: storeURL, ofType: NSSQLiteStoreType, options: nil)
    }
  }
}
