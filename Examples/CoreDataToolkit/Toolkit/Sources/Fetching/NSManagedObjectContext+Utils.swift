import CoreData
import Foundation

extension NSManagedObjectContext {
  /// The persistent stores of the context.
  public final var persistentStores: [NSPersistentStore] {
    guard let coordinator = persistentStoreCoordinator else {
      preconditionFailure("\(self.description) has no coordinator.")
    }
    return coordinator.persistentStores
  }

  public final func metaData(for store: NSPersistentStore) -> [String: Any] {
    guard let coordinator = persistentStoreCoordinator else { preconditionFailure() }
    return coordinator.metadata(for: store)
  }

  public final func setMetaDataObject(_ object: Any?, with key: String, for store: NSPersistentStore) {
    performAndWait {
      guard let coordinator = persistentStoreCoordinator else { preconditionFailure() }
      coordinator.setMetadata(object: object, with: key, for: store)
    }
  }

  /// Entities of the model.
  public final var entities: Set<NSEntityDescription> {
    guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
    return Set(model.entities)
  }

  public final func entity(forEntityName name: String) -> NSEntityDescription? {
    guard let coordinator = persistentStoreCoordinator else { return nil }
    return coordinator.managedObjectModel.entitiesByName[name]
  }

  public final var topmostParent: NSManagedObjectContext {
    var current = self
    while let parent = current.parent { current = parent }
    return current
  }

  public final var hasPersistentChanges: Bool {
    return !insertedObjects.isEmpty || !deletedObjects.isEmpty
      || updatedObjects.contains { $0.hasPersistentChangedValues }
  }

  public final func saveOrRollback() throws {
    guard hasChanges else { return }
    do { try save() } catch {
      rollback()
      throw error
    }
  }

  public final func saveUpToTheTop() throws {
    var error: Error?
    performAndWait {
      do { if hasChanges { try save() } } catch let saveError { error = saveError }
    }
    if let error = error { throw error }
    try parent?.saveUpToTheTop()
  }

  @available(iOS 15.0, macOS 12.0, *)
  public final func performSave(after block: @escaping () throws -> Void) async throws {
    try await perform { [unowned self] in
      try block()
      try self.saveOrRollback()
    }
  }

  public final func performSaveAndWait(after block: (NSManagedObjectContext) throws -> Void) throws {
    try withoutActuallyEscaping(block) { work in
      try performAndWait {
        try work(self)
        guard self.hasChanges else { return }
        try self.save()
      }
    }
  }

  public final func newBackgroundContext(asChildContext isChild: Bool = false) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    if isChild {
      context.parent = self
    } else {
      context.persistentStoreCoordinator = persistentStoreCoordinator
    }
    return context
  }

  public final func performMergeChanges(from payload: Notification) {
    perform { self.mergeChanges(fromContextDidSave: payload) }
  }

  /// The object for a URI.
  public final func object(from uri: URL) throws -> NSManagedObject? {
    guard let coordinator = persistentStoreCoordinator else { throw StackError.unknown }
    guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else { return nil }
    return try existingObject(with: id)
  }

  public func insertObject<A>() -> A where A: Managed, A: NSManagedObject {
    guard let object = NSEntityDescription.insertNewObject(forEntityName: A.entityName, into: self) as? A else {
      fatalError("Wrong object type")
    }
    return object
  }
}

// MARK: - Batch operations

extension NSManagedObjectContext {
  public final func executeAndMergeChanges(
    using request: NSBatchDeleteRequest, into contexts: [NSManagedObjectContext] = []
  ) throws -> Int {
    request.resultType = .resultTypeObjectIDs
    let result = try execute(request) as! NSBatchDeleteResult
    let ids = result.result as? [NSManagedObjectID] ?? []
    let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: ids]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [self] + contexts)
    return ids.count
  }

  public func batchUpdate<T: NSManagedObject>(
    _ type: T.Type, where predicate: NSPredicate? = nil, values: [AnyHashable: Any],
    resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType, includesSubentities: Bool = true
  ) throws -> NSBatchUpdateResult {
    let request = NSBatchUpdateRequest(entityName: T.entity().name!)
    request.predicate = predicate
    request.propertiesToUpdate = values
    request.resultType = resultType
    request.includesSubentities = includesSubentities
    // swiftlint:disable:next force_cast
    return try execute(request) as! NSBatchUpdateResult
  }

  @available(iOS 13.0, macOS 10.15, *)
  public func batchInsert<T: NSManagedObject>(
    entity: T.Type, resultType: NSBatchInsertRequestResultType = .statusOnly, objects: [[String: Any]]
  ) throws -> NSBatchInsertResult {
    let request = NSBatchInsertRequest(entity: entity.entity(), objects: objects)
    request.resultType = resultType
    return try execute(request) as! NSBatchInsertResult
  }

  @available(iOS 14.0, macOS 11.0, *)
  public func batchInsert<T: NSManagedObject>(
    _ type: T.Type, resultType: NSBatchInsertRequestResultType = .objectIDs, handler: @escaping (T) -> Bool
  ) throws -> NSBatchInsertResult {
    let request = NSBatchInsertRequest(entity: T.entity()) { (object: NSManagedObject) -> Bool in
      guard let object = object as? T else { return true }
      return handler(object)
    }
    request.resultType = resultType
    guard let result = try execute(request) as? NSBatchInsertResult else { throw StackError.unknown }
    return result
  }

  @available(iOS 14.0, macOS 11.0, *)
  public func batchInsert<T: NSManagedObject>(
    _ type: T.Type, resultType: NSBatchInsertRequestResultType = .count,
    dictionaryHandler: @escaping (NSMutableDictionary) -> Bool
  ) throws -> Int {
    let request = NSBatchInsertRequest(entityName: T.entity().name!, dictionaryHandler: dictionaryHandler)
    request.resultType = resultType
    let result = try execute(request) as? NSBatchInsertResult
    return result?.count ?? 0
  }

  public func deleteAll(except ids: Set<NSManagedObjectID> = []) throws {
    for entity in entities where entity.superentity == nil && !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
      request.includesSubentities = true
      request.includesPropertyValues = false
      for object in try fetch(request) where !ids.contains(object.objectID) { delete(object) }
    }
  }
}

extension NSBatchInsertResult {
  public var inserts: [NSManagedObjectID]? { result as? [NSManagedObjectID] }
  public var changes: [String: [NSManagedObjectID]]? {
    guard let inserts = inserts else { return nil }
    return [NSInsertedObjectsKey: inserts]
  }
  public var count: Int? { result as? Int }
  public var status: Bool? { result as? Bool }
}

extension NSBatchUpdateResult {
  public var updates: [NSManagedObjectID]? { result as? [NSManagedObjectID] }
  public var count: Int? { result as? Int }
  public var status: Bool? { result as? Bool }
}

extension NSBatchDeleteResult {
  public var deletes: [NSManagedObjectID]? { return result as? [NSManagedObjectID] }
  public var count: Int? { return result as? Int }
  public var status: Bool? { return result as? Bool }
}

// MARK: - Notifications

public struct ContextDidSaveNotification {
  private let notification: Notification

  public init(_ notification: Notification) {
    guard notification.name == .NSManagedObjectContextDidSave else { fatalError() }
    self.notification = notification
  }

  public var insertedObjects: AnyIterator<NSManagedObject> { iterator(forKey: NSInsertedObjectsKey) }
  public var updatedObjects: AnyIterator<NSManagedObject> { iterator(forKey: NSUpdatedObjectsKey) }
  public var deletedObjects: AnyIterator<NSManagedObject> { iterator(forKey: NSDeletedObjectsKey) }
  public var managedObjectContext: NSManagedObjectContext {
    guard let context = notification.object as? NSManagedObjectContext else {
      fatalError("Invalid notification object")
    }
    return context
  }
  public var historyToken: NSPersistentHistoryToken? {
    notification.userInfo?["historyToken"] as? NSPersistentHistoryToken
  }
  public var queryGenerationToken: NSQueryGenerationToken? {
    notification.userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
  }

  private func iterator(forKey key: String) -> AnyIterator<NSManagedObject> {
    guard let set = (notification as Notification).userInfo?[key] as? NSSet else { return AnyIterator { nil } }
    let innerIterator = set.makeIterator()
    return AnyIterator { return innerIterator.next() as? NSManagedObject }
  }
}

extension NSManagedObjectContext {
  public func addContextDidSaveNotificationObserver(_ handler: @escaping (ContextDidSaveNotification) -> Void)
    -> NSObjectProtocol
  {
    let nc = NotificationCenter.default
    return nc.addObserver(forName: NSNotification.Name.NSManagedObjectContextDidSave, object: self, queue: nil) {
      note in
      handler(ContextDidSaveNotification(note))
    }
  }

  public func addObjectsDidChangeObserver(_ handler: @escaping (Set<NSManagedObject>, Set<NSManagedObject>) -> Void)
    -> NSObjectProtocol
  {
    NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: self, queue: .main
    ) { note in
      let updated =
        note.userInfo?[NSManagedObjectContext.NotificationKey.updatedObjects.rawValue] as? Set<NSManagedObject> ?? []
      let refreshed = note.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? []
      handler(updated, refreshed)
    }
  }
}
