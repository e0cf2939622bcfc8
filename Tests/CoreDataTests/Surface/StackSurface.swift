import CoreData
import Foundation

// The declarations of the framework with the types that they have on Apple's platforms: this file only has to compile.
private func coordinator(
  _ p: NSPersistentStoreCoordinator, _ s: NSPersistentStore, _ u: URL, _ c: NSManagedObjectContext
) async throws {
  let _ = NSPersistentStoreCoordinator(managedObjectModel: p.managedObjectModel)
  let _: [NSPersistentStore] = p.persistentStores
  p.name = "a"
  let _: NSPersistentStore? = p.persistentStore(for: u)
  let _: URL = p.url(for: s)
  let _: Bool = p.setURL(u, for: s)
  let _: NSPersistentStore = try p.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: u, options: nil)
  let _: NSPersistentStore = try p.addPersistentStore(type: .sqlite, configuration: nil, at: u, options: nil)
  p.addPersistentStore(with: NSPersistentStoreDescription()) { (_: NSPersistentStoreDescription, _: Error?) in }
  try p.remove(s)
  p.setMetadata([:], for: s)
  let _: [String: Any] = p.metadata(for: s)
  let _: NSManagedObjectID? = p.managedObjectID(forURIRepresentation: u)
  let _: Any = try p.execute(NSBatchUpdateRequest(entityName: "A"), with: c)
  let _ = NSPersistentStoreCoordinator.registeredStoreTypes
  let _: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: u)
  let _: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: u)
  try NSPersistentStoreCoordinator.setMetadata([:], forPersistentStoreOfType: NSSQLiteStoreType, at: u, options: nil)
  try NSPersistentStoreCoordinator.setMetadata([:], type: .sqlite, at: u, options: nil)
  let _: NSPersistentStore = try p.migratePersistentStore(s, to: u, options: nil, withType: NSSQLiteStoreType)
  let _: NSPersistentStore = try p.migratePersistentStore(s, to: u, options: nil, type: .sqlite)
  try p.destroyPersistentStore(at: u, ofType: NSSQLiteStoreType, options: nil)
  try p.destroyPersistentStore(at: u, type: .sqlite, options: nil)
  try p.replacePersistentStore(
    at: u, destinationOptions: nil, withPersistentStoreFrom: u, sourceOptions: nil, ofType: NSSQLiteStoreType)
  try p.replacePersistentStore(
    at: u, destinationOptions: nil, withPersistentStoreFrom: u, sourceOptions: nil, type: .sqlite)
  p.performAndWait {}
  let _: Int = await p.perform { 1 }
  let _: NSPersistentHistoryToken? = p.currentPersistentHistoryToken(fromStores: nil)
  try p.finishDeferredLightweightMigration()
  let _: Bool = try p.finishDeferredLightweightMigrationTask()
  let _: NSManagedObjectModel? = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(with: u, options: nil)
  let _: String = s.type
  let _: URL? = s.url
  s.url = u
  let _: String! = s.identifier
  let _: Bool = s.isReadOnly
  let _: String = s.configurationName
  let _: [AnyHashable: Any]? = s.options
  let _: [String: Any]! = s.metadata
  s.metadata = [:]
  let _: NSPersistentStoreCoordinator? = s.persistentStoreCoordinator
  let _ = try NSPersistentStore.metadataForPersistentStore(with: u)
  try NSPersistentStore.setMetadata([:], forPersistentStoreAt: u)
  let keys = [
    NSSQLiteStoreType, NSBinaryStoreType, NSInMemoryStoreType, NSXMLStoreType, NSStoreTypeKey, NSStoreUUIDKey,
    NSReadOnlyPersistentStoreOption,
    NSPersistentStoreTimeoutOption, NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption,
    NSIgnorePersistentStoreVersioningOption, NSMigratePersistentStoresAutomaticallyOption,
    NSInferMappingModelAutomaticallyOption,
    NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, NSPersistentStoreOSCompatibility,
    NSPersistentStoreConnectionPoolMaxSizeKey, NSPersistentStoreForceDestroyOption, NSPersistentStoreFileProtectionKey,
    NSPersistentHistoryTrackingKey, NSBinaryStoreSecureDecodingClasses,
    NSBinaryStoreInsecureDecodingCompatibilityOption,
    NSPersistentStoreRemoteChangeNotificationPostOptionKey, NSPersistentStoreDeferredLightweightMigrationOptionKey,
    NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreURLKey, NSPersistentHistoryTokenKey,
    NSAddedPersistentStoresKey,
    NSRemovedPersistentStoresKey, NSUUIDChangedPersistentStoresKey, NSValidateXMLStoreOption,
    NSPersistentStoreModelVersionChecksumKey,
    NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey,
    NSInvalidatedAllObjectsKey, NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey,
    NSRefreshedObjectIDsKey,
    NSInvalidatedObjectIDsKey, NSManagedObjectContextQueryGenerationKey, NSDetailedErrorsKey,
    NSValidationObjectErrorKey,
    NSValidationKeyErrorKey, NSValidationPredicateErrorKey, NSValidationValueErrorKey, NSAffectedStoresErrorKey,
    NSAffectedObjectsErrorKey, NSPersistentStoreSaveConflictsErrorKey, NSSQLiteErrorDomain, NSMigrationManagerKey,
    NSMigrationSourceObjectKey, NSMigrationDestinationObjectKey, NSMigrationEntityMappingKey,
    NSMigrationPropertyMappingKey,
    NSMigrationEntityPolicyKey,
  ]
  _ = keys
}

private func container(_ n: NSPersistentContainer, _ d: NSPersistentStoreDescription, _ u: URL) async throws {
  let _ = NSPersistentContainer(name: "a", managedObjectModel: n.managedObjectModel)
  let _: URL = NSPersistentContainer.defaultDirectoryURL()
  let _: String = n.name
  let _: NSManagedObjectContext = n.viewContext
  let _: NSPersistentStoreCoordinator = n.persistentStoreCoordinator
  n.persistentStoreDescriptions = [NSPersistentStoreDescription(url: u)]
  n.loadPersistentStores { _, _ in }
  let _: NSManagedObjectContext = n.newBackgroundContext()
  let _: Int = await n.performBackgroundTask { _ in 1 }
  d.type = NSSQLiteStoreType
  d.configuration = nil
  d.url = u
  d.isReadOnly = true
  d.timeout = 1
  d.setOption(true as NSNumber, forKey: "a")
  d.setValue("a" as NSString, forPragmaNamed: "a")
  let _: [String: NSObject] = d.options
  let _: [String: NSObject] = d.sqlitePragmas
  d.shouldAddStoreAsynchronously = true
  d.shouldMigrateStoreAutomatically = true
  d.shouldInferMappingModelAutomatically = true
  let _ = d.copy() as! NSPersistentStoreDescription
}

private class Container: NSPersistentContainer, @unchecked Sendable {
  override var viewContext: NSManagedObjectContext { super.viewContext }
  override var persistentStoreCoordinator: NSPersistentStoreCoordinator { super.persistentStoreCoordinator }
  override func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, Error?) -> Void)
  {}
  override func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {}
}

private class Coordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  override func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws
  {}
  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any { 1 }
}
