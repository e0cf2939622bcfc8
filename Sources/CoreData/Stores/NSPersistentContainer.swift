public import Foundation
import Persist

// Unchecked: what changes is set before the stores are loaded, as in Core Data.
/// A model with its coordinator, its stores and a context for the main queue.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  private struct Stack {
    let name: String
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    let viewContext: NSManagedObjectContext
  }

  private let stack: Stack
  /// The name.
  open var name: String { stack.name }
  /// The model.
  open var managedObjectModel: NSManagedObjectModel { stack.model }
  /// The coordinator.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { stack.coordinator }
  /// The context of the main queue.
  open var viewContext: NSManagedObjectContext { stack.viewContext }
  /// The stores that ``loadPersistentStores(completionHandler:)`` adds.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// Creates a container with the model of this name in the program's resources.
  ///
  /// `.xcdatamodeld` folders are read as they are. A model that isn't found stops the program, because this
  /// initializer can't throw.
  public convenience init(name: String) {
    guard let url = ModelFile.named(name) else {
      stop("There is no model '\(name)' among the program's resources: add '\(name).xcdatamodeld' to a target's.")
    }
    do {
      let (model, registry) = try ModelFile.read(url)
      let bundle = ModelFile.bundleName(of: url)
      self.init(name: name, managedObjectModel: NSManagedObjectModel(model, registry: registry, readFrom: bundle))
    } catch {
      stop("The model '\(name)' can't be read: \(error)")
    }
  }

  /// Creates a container with a model.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    viewContext.persistentStoreCoordinator = coordinator
    stack = Stack(name: name, model: model, coordinator: coordinator, viewContext: viewContext)
    let folder = Self.defaultDirectoryURL()
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))]
  }

  /// A container over the store of a migration's stage.
  init(stage context: ManagedObjectContext, model: NSManagedObjectModel) {
    stack = Stack(
      name: "Stage", model: model,
      coordinator: NSPersistentStoreCoordinator(context.persistentStoreCoordinator, model: model),
      viewContext: .of(context))
    persistentStoreDescriptions = []
  }

  /// The folder of stores without another one.
  open class func defaultDirectoryURL() -> URL { PersistentContainer.defaultDirectoryURL() }

  /// Adds the stores and creates their folders. The block is called once for each, with its error.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if description.type == NSSQLiteStoreType, let url = description.url, url.isFileURL, url.path != "/dev/null" {
        try? FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      }
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// Returns a new context with a queue of its own.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block with a new context on that context's queue.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block with a new context on that context's queue.
  public final func performBackgroundTask<Result, Failure: Error>(
    _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) -> Result in try block(context) }
  }
}
