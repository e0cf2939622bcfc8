import CoreData
import Foundation
import Testing

@Suite("Stacks of Core Data's")
struct StackTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private final class Container: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL {
      FileManager.default.temporaryDirectory.appendingPathComponent("CoreDataTests-Container")
    }
  }

  @Test("A container has a description for its name in its class's folder")
  func defaults() throws {
    let container = Container(name: "App", managedObjectModel: TestModels.staff())
    let description = try #require(container.persistentStoreDescriptions.first)
    #expect(description.url == Container.defaultDirectoryURL().appendingPathComponent("App.sqlite"))
    #expect(description.type == NSSQLiteStoreType && !description.isReadOnly)
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously && description.timeout == 240)
    #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test("Stores are loaded with their options, in memory and in files", arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
  func loading(type: String) throws {
    let container = NSPersistentContainer(name: "App", managedObjectModel: TestModels.staff())
    let description = NSPersistentStoreDescription(url: folder.url.appendingPathComponent("new/App.sqlite"))
    description.type = type
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
    container.persistentStoreDescriptions = [description]
    // Unsafe: the block runs before the method returns.
    nonisolated(unsafe) var loaded: [(NSPersistentStoreDescription, (any Error)?)] = []
    container.loadPersistentStores { loaded.append(($0, $1)) }
    #expect(loaded.count == 1)
    #expect(loaded.first?.1 == nil)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.type == type)
    #expect(store.identifier.isEmpty == false)
    #expect(store.options?[NSPersistentHistoryTrackingKey] != nil)
    if type == NSSQLiteStoreType {
      #expect(container.persistentStoreCoordinator.persistentStore(for: description.url!) === store)
      #expect(container.persistentStoreCoordinator.url(for: store) == description.url)
      #expect(FileManager.default.fileExists(atPath: description.url!.path))
    }
    let context = container.newBackgroundContext()
    let id = try context.performAndWait {
      let alice = context.employee("Alice", 1)
      try context.save()
      return alice.objectID
    }
    #expect(id.persistentStore === store)
    #expect(!id.isTemporaryID)
    let url = id.uriRepresentation()
    #expect(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url) == id)
  }

  @Test("A store that can't be opened is an error of its description")
  func failing() throws {
    let file = folder.url.appendingPathComponent("text.sqlite")
    try Data("This is no database, and it is long enough.".utf8).write(to: file)
    let container = NSPersistentContainer(name: "App", managedObjectModel: TestModels.staff())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    // Unsafe: the block runs before the method returns.
    nonisolated(unsafe) var failure: NSError?
    container.loadPersistentStores { failure = $1 as NSError? }
    #expect(failure?.domain == NSCocoaErrorDomain)
    #expect(failure?.userInfo[NSFilePathErrorKey] as? String == file.path)
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test("A store added asynchronously is there when its block runs")
  func asynchronous() async throws {
    let container = NSPersistentContainer(name: "App", managedObjectModel: TestModels.staff())
    let description = NSPersistentStoreDescription(url: folder.store())
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let error: (any Error)? = await withCheckedContinuation { continuation in
      container.loadPersistentStores { continuation.resume(returning: $1) }
    }
    #expect(error == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test("A background task runs on a context of its own and returns its result")
  func backgroundTask() async throws {
    let container = NSPersistentContainer(name: "App", managedObjectModel: TestModels.staff())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.store())]
    container.loadPersistentStores { #expect($1 == nil) }
    let count = try await container.performBackgroundTask { context in
      context.employee("Alice", 1)
      try context.save()
      return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee"))
    }
    #expect(count == 1)
  }

  @Test("A read-only store refuses saves")
  func readOnly() throws {
    _ = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    let context = try NSManagedObjectContext.opening(
      folder.store(), TestModels.staff(), options: [NSReadOnlyPersistentStoreOption: true])
    #expect(context.persistentStoreCoordinator?.persistentStores.first?.isReadOnly == true)
    context.employee("Alice", 1)
    #expect(throws: (any Error).self) { try context.save() }
  }

  @Test("Stores are removed, destroyed, replaced and migrated to other files")
  func files() throws {
    let context = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    context.employee("Alice", 1)
    try context.save()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let moved = try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: folder.store("moved"), options: nil, withType: NSSQLiteStoreType)
    #expect(moved.url == folder.store("moved"))
    #expect(coordinator.persistentStores == [moved])
    try coordinator.remove(moved)
    try coordinator.replacePersistentStore(
      at: folder.store("copy"), destinationOptions: nil, withPersistentStoreFrom: folder.store("moved"),
      sourceOptions: nil, ofType: NSSQLiteStoreType)
    let copy = try NSManagedObjectContext.opening(folder.store("copy"), TestModels.staff())
    #expect(try copy.count(for: NSFetchRequest<NSManagedObject>(entityName: "Employee")) == 1)
    try coordinator.destroyPersistentStore(at: folder.store("moved"), ofType: NSSQLiteStoreType, options: nil)
    #expect(!FileManager.default.fileExists(atPath: folder.store("moved").path))
  }

  @Test("Metadata are read and written, also without opening the store")
  func metadata() throws {
    do {
      let context = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
      let coordinator = try #require(context.persistentStoreCoordinator)
      let store = coordinator.persistentStores[0]
      var metadata = coordinator.metadata(for: store)
      metadata["seed"] = "done"
      metadata["count"] = 7
      coordinator.setMetadata(metadata, for: store)
      context.employee("Alice", 1)
      try context.save()
    }
    var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.store())
    #expect(metadata["seed"] as? String == "done")
    #expect(metadata["count"] as? Int == 7)
    metadata["seed"] = nil
    try NSPersistentStoreCoordinator.setMetadata(
      metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: folder.store(), options: nil)
    let reopened = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    #expect(reopened.persistentStoreCoordinator?.persistentStores.first?.metadata["seed"] == nil)
  }

  @Test("Notifications of a save have objects, identifiers and the history's token")
  func notifications() throws {
    let context = try NSManagedObjectContext.opening(
      folder.store(), TestModels.staff(), options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    let (kept, removed) = (context.employee("Kept", 1), context.employee("Removed", 2))
    try context.save()
    // Unsafe: posted by the saves below, on this thread.
    nonisolated(unsafe) var infos: [Notification.Name: [AnyHashable: Any]] = [:]
    let names: [Notification.Name] = [
      .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs, .NSManagedObjectContextObjectsDidChange,
    ]
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { infos[name] = $0.userInfo }
    }
    defer { observers.forEach(NotificationCenter.default.removeObserver) }
    kept.setValue("Changed", forKey: "name")
    context.delete(removed)
    let added = context.employee("Added", 3)
    try context.save()
    let saved = try #require(infos[.NSManagedObjectContextDidSave])
    #expect(saved[NSInsertedObjectsKey] as? Set<NSManagedObject> == [added])
    #expect(saved[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [kept])
    #expect(saved[NSDeletedObjectsKey] as? Set<NSManagedObject> == [removed])
    #expect(saved[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken)
    #expect(saved[NSManagedObjectContext.NotificationKey.insertedObjects.rawValue] != nil)
    let identifiers = try #require(infos[.NSManagedObjectContextDidSaveObjectIDs])
    #expect(identifiers[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [added.objectID])
    #expect(!added.objectID.isTemporaryID)
    context.refreshAllObjects()
    #expect((infos[.NSManagedObjectContextObjectsDidChange]?[NSRefreshedObjectsKey] as? Set<NSManagedObject>)?.count == 2)
    context.reset()
    #expect(infos[.NSManagedObjectContextObjectsDidChange]?[NSInvalidatedAllObjectsKey] != nil)
  }

  @Test("Merging another context's notification refreshes what is registered")
  func merging() throws {
    let first = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    let second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    second.persistentStoreCoordinator = first.persistentStoreCoordinator
    let alice = first.employee("Alice", 1)
    try first.save()
    let same = try second.existingObject(with: alice.objectID)
    #expect(same.value(forKey: "name") as? String == "Alice")
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: first, queue: nil
    ) { second.mergeChanges(fromContextDidSave: $0) }
    defer { NotificationCenter.default.removeObserver(observer) }
    alice.setValue("Alicia", forKey: "name")
    try first.save()
    #expect(same.value(forKey: "name") as? String == "Alicia")
    first.delete(alice)
    try first.save()
    #expect(same.isDeleted || same.managedObjectContext == nil)
  }
}
