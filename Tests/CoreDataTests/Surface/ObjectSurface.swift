import CoreData
import Foundation

// The declarations of the framework with the types that they have on Apple's platforms: this file only has to compile.
private func object(_ o: NSManagedObject) throws {
  let _: NSManagedObjectContext? = o.managedObjectContext
  let _: NSEntityDescription = o.entity
  let _: NSManagedObjectID = o.objectID
  let _: [Bool] = [o.isInserted, o.isUpdated, o.isDeleted, o.hasChanges, o.hasPersistentChangedValues, o.isFault]
  let _: Bool = o.hasFault(forRelationshipNamed: "a")
  let _: [NSManagedObjectID] = o.relatedObjectIDs(forRelationshipNamed: "a")
  let _: Int = o.faultingState
  o.willAccessValue(forKey: nil)
  o.didAccessValue(forKey: "a")
  o.willChangeValue(forKey: "a")
  o.didChangeValue(forKey: "a")
  o.willChangeValue(forKey: "a", withSetMutation: .union, using: Set<NSManagedObject>())
  o.didChangeValue(forKey: "a", withSetMutation: .union, using: Set<NSManagedObject>())
  o.willChange(.insertion, valuesAt: IndexSet(integer: 0), forKey: "a")
  o.didChange(.insertion, valuesAt: IndexSet(integer: 0), forKey: "a")
  o.awakeFromFetch()
  o.awakeFromInsert()
  o.awake(fromSnapshotEvents: .refresh)
  o.prepareForDeletion()
  o.willSave()
  o.didSave()
  o.willTurnIntoFault()
  o.didTurnIntoFault()
  let _: Any? = o.value(forKey: "a")
  o.setValue(1, forKey: "a")
  let _: Any? = o.primitiveValue(forKey: "a")
  o.setPrimitiveValue(1, forKey: "a")
  let _: [String: Any] = o.committedValues(forKeys: nil)
  let _: [String: Any] = o.changedValues()
  let _: [String: Any] = o.changedValuesForCurrentEvent()
  var value: AnyObject?
  try o.validateValue(&value, forKey: "a")
  try o.validateForDelete()
  try o.validateForInsert()
  try o.validateForUpdate()
  let _: NSMutableSet = o.mutableSetValue(forKey: "a")
  let _: NSMutableSet = o.mutableSetValue(forKeyPath: "a.b")
  let _: NSMutableOrderedSet = o.mutableOrderedSetValue(forKey: "a")
  o.setValuesForKeys(["a": 1])
  let _: [String: Any] = o.dictionaryWithValues(forKeys: ["a"])
  let _: Bool = o.isEqual(o)
  let _: Int = o.hash
  let _: Bool = o.isKind(of: NSManagedObject.self)
  let _: Bool = NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges
  let _: NSEntityDescription = NSManagedObject.entity()
  let _: NSFetchRequest<NSFetchRequestResult> = NSManagedObject.fetchRequest()
  let id = o.objectID
  let _: NSEntityDescription = id.entity
  let _: NSPersistentStore? = id.persistentStore
  let _: Bool = id.isTemporaryID
  let _: URL = id.uriRepresentation()
  let _: Bool = id.isEqual(id)
  let _: Int = id.hash
  let _ = id.copy() as? NSManagedObjectID
}

private func context(_ c: NSManagedObjectContext, _ o: NSManagedObject, _ s: NSPersistentStore) async throws
{
  let _ = NSManagedObjectContext(.mainQueue)
  let _ = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  c.performAndWait {}
  let _: Int = c.performAndWait { 1 }
  let _: Int = await c.perform { 1 }
  let _: Int = await c.perform(schedule: .enqueued) { 1 }
  c.persistentStoreCoordinator = nil
  c.parent = nil
  c.name = "a"
  c.undoManager = UndoManager()
  let _: Bool = c.hasChanges
  let _: NSMutableDictionary = c.userInfo
  let _: NSManagedObjectContextConcurrencyType = c.concurrencyType
  let _: NSManagedObject? = c.registeredObject(for: o.objectID)
  let _: NSManagedObject = c.object(with: o.objectID)
  let _: NSManagedObject = try c.existingObject(with: o.objectID)
  let _: [NSManagedObject] = try c.fetch(NSFetchRequest<NSManagedObject>(entityName: "A"))
  let _: [Any] = try c.fetch(NSFetchRequest<NSFetchRequestResult>(entityName: "A"))
  let _: Int = try c.count(for: NSFetchRequest<NSFetchRequestResult>(entityName: "A"))
  let _: NSPersistentStoreResult = try c.execute(NSBatchDeleteRequest(objectIDs: [o.objectID]))
  c.insert(o)
  c.delete(o)
  c.refresh(o, mergeChanges: true)
  c.detectConflicts(for: o)
  c.processPendingChanges()
  c.assign(o, to: s)
  let _: Set<NSManagedObject> = c.insertedObjects.union(c.updatedObjects).union(c.deletedObjects).union(
    c.registeredObjects)
  c.undo()
  c.redo()
  c.reset()
  c.rollback()
  try c.save()
  c.refreshAllObjects()
  c.propagatesDeletesAtEndOfEvent = true
  c.retainsRegisteredObjects = true
  c.shouldDeleteInaccessibleFaults = true
  c.stalenessInterval = 0
  c.mergePolicy = NSErrorMergePolicy
  try c.obtainPermanentIDs(for: [o])
  c.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
  NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [:], into: [c])
  let _: NSQueryGenerationToken? = c.queryGenerationToken
  try c.setQueryGenerationFrom(.current)
  c.automaticallyMergesChangesFromParent = true
  c.transactionAuthor = nil
  let names: [Notification.Name] = [
    .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange,
    .NSManagedObjectContextDidSaveObjectIDs, .NSManagedObjectContextDidMergeChangesObjectIDs,
    .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
    .NSPersistentStoreCoordinatorWillRemoveStore, .NSPersistentStoreRemoteChange,
    NSManagedObjectContext.willSaveObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
    NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
    NSManagedObjectContext.didMergeChangesObjectIDsNotification,
  ]
  _ = names
  let keys: [NSManagedObjectContext.NotificationKey] = [
    .sourceContext, .queryGeneration, .invalidatedAllObjects, .insertedObjects, .updatedObjects, .deletedObjects,
    .refreshedObjects, .invalidatedObjects, .insertedObjectIDs, .updatedObjectIDs, .deletedObjectIDs,
    .refreshedObjectIDs,
    .invalidatedObjectIDs,
  ]
  _ = keys
}

private func merging(_ m: NSMergeConflict, _ k: NSConstraintConflict, _ o: NSManagedObject) throws {
  let policies: [NSMergePolicy] = [
    .error, .rollback, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump,
  ]
  let _: NSMergePolicyType = policies[0].mergeType
  try policies[0].resolve(mergeConflicts: [m])
  try policies[0].resolve(optimisticLockingConflicts: [m])
  try policies[0].resolve(constraintConflicts: [k])
  let any: [Any] = [
    NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy,
    NSOverwriteMergePolicy, NSRollbackMergePolicy,
  ]
  _ = any
  let _: NSManagedObject = m.sourceObject
  let _: [String: Any]? = m.objectSnapshot
  let _: [String: Any]? = m.cachedSnapshot
  let _: [String: Any]? = m.persistedSnapshot
  let _: Int = m.newVersionNumber
  let _: Int = m.oldVersionNumber
  let _: [String] = k.constraint
  let _: [String: Any] = k.constraintValues
  let _: NSManagedObject? = k.databaseObject
  let _: [String: Any]? = k.databaseSnapshot
  let _: [NSManagedObject] = k.conflictingObjects
  let _: [[AnyHashable: Any]] = k.conflictingSnapshots
}

private class Context: NSManagedObjectContext, @unchecked Sendable {
  override func save() throws {}
  override func perform(_ block: @escaping () -> Void) {}
  override func performAndWait(_ block: () -> Void) {}
  override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try super.execute(request)
  }
  override var undoManager: UndoManager? {
    get { nil }
    set {}
  }
  override func mergeChanges(fromContextDidSave notification: Notification) {}
  override var hasChanges: Bool { false }
  override var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { nil }
    set {}
  }
}

private class Policy2: NSMergePolicy, @unchecked Sendable {
  init() { super.init(merge: .errorMergePolicyType) }
  override func resolve(mergeConflicts list: [Any]) throws { try super.resolve(mergeConflicts: list) }
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {}
  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {}
}

private func errors(_ e: CocoaError) {
  let codes: [CocoaError.Code] = [
    .managedObjectValidation, .managedObjectConstraintValidation, .validationMultipleErrors,
    .validationMissingMandatoryProperty,
    .validationRelationshipLacksMinimumCount, .validationRelationshipExceedsMaximumCount,
    .validationRelationshipDeniedDelete,
    .validationNumberTooLarge, .validationNumberTooSmall, .validationDateTooLate, .validationDateTooSoon,
    .validationInvalidDate,
    .validationStringTooLong, .validationStringTooShort, .validationStringPatternMatching, .validationInvalidURI,
    .managedObjectContextLocking, .persistentStoreCoordinatorLocking, .managedObjectReferentialIntegrity,
    .managedObjectExternalRelationship, .managedObjectMerge, .managedObjectConstraintMerge, .persistentStoreInvalidType,
    .persistentStoreTypeMismatch, .persistentStoreIncompatibleSchema, .persistentStoreSave,
    .persistentStoreIncompleteSave,
    .persistentStoreSaveConflicts, .coreData, .persistentStoreOperation, .persistentStoreOpen, .persistentStoreTimeout,
    .persistentStoreUnsupportedRequestType, .persistentStoreIncompatibleVersionHash, .migration,
    .migrationConstraintViolation,
    .migrationCancelled, .migrationMissingSourceModel, .migrationMissingMappingModel, .migrationManagerSourceStore,
    .migrationManagerDestinationStore, .entityMigrationPolicy, .sqlite, .inferredMappingModel, .externalRecordImport,
    .persistentHistoryTokenExpired, .managedObjectModelReferenceNotFound, .stagedMigrationFrameworkVersionMismatch,
    .stagedMigrationBackwardMigration,
  ]
  _ = codes
  let _: [Any?] = [
    e.validationObject, e.validationKey, e.validationPredicate, e.validationValue, e.affectedObjects, e.affectedStores,
    e.persistentStoreSaveConflicts,
  ]
}
