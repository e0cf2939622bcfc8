import CoreData
import Foundation

// The declarations of the framework with the types that they have on Apple's platforms: this file only has to compile.
private func migration(
  _ g: NSMigrationManager, _ mm: NSMappingModel, _ em: NSEntityMapping, _ pm: NSPropertyMapping, _ o: NSManagedObject,
  _ u: URL
) throws {
  let _ = NSMigrationManager(sourceModel: g.sourceModel, destinationModel: g.destinationModel)
  try g.migrateStore(
    from: u, sourceType: "a", options: nil, with: mm, toDestinationURL: u, destinationType: "a", destinationOptions: nil
  )
  try g.migrateStore(from: u, type: .sqlite, options: nil, mapping: mm, to: u, type: .sqlite, options: nil)
  g.usesStoreSpecificMigrationManager = true
  g.reset()
  let _: NSMappingModel = g.mappingModel
  let _: NSManagedObjectContext = g.sourceContext
  let _: NSManagedObjectContext = g.destinationContext
  let _: NSEntityDescription? = g.sourceEntity(for: em)
  let _: NSEntityDescription? = g.destinationEntity(for: em)
  g.associate(sourceInstance: o, withDestinationInstance: o, for: em)
  let _: [NSManagedObject] = g.destinationInstances(forEntityMappingName: "a", sourceInstances: [o])
  let _: [NSManagedObject] = g.sourceInstances(forEntityMappingName: "a", destinationInstances: [o])
  let _: NSEntityMapping = g.currentEntityMapping
  let _: Float = g.migrationProgress
  g.userInfo = [:]
  g.cancelMigrationWithError(CocoaError(.userCancelled))
  let _ = NSMappingModel(from: nil, forSourceModel: nil, destinationModel: nil)
  let _ = NSMappingModel(contentsOf: u)
  let _: [NSEntityMapping]! = mm.entityMappings
  let _: [String: NSEntityMapping] = mm.entityMappingsByName
  em.name = "a"
  em.mappingType = .copyEntityMappingType
  em.sourceEntityName = nil
  em.sourceEntityVersionHash = nil
  em.destinationEntityName = nil
  em.destinationEntityVersionHash = nil
  em.attributeMappings = []
  em.relationshipMappings = []
  em.sourceExpression = nil
  em.userInfo = [:]
  em.entityMigrationPolicyClassName = nil
  let types: [NSEntityMappingType] = [
    .undefinedEntityMappingType, .customEntityMappingType, .addEntityMappingType, .removeEntityMappingType,
    .copyEntityMappingType, .transformEntityMappingType,
  ]
  _ = types
  pm.name = nil
  pm.valueExpression = nil
  pm.userInfo = nil
  let ref = NSManagedObjectModelReference(model: g.sourceModel, versionChecksum: "a")
  let _ = NSManagedObjectModelReference(fileURL: u, versionChecksum: "a")
  let _ = NSManagedObjectModelReference(entityVersionHashes: [:], in: nil, versionChecksum: "a")
  let _ = NSManagedObjectModelReference(name: "a", in: nil, versionChecksum: "a")
  let _: NSManagedObjectModel = ref.resolvedModel
  let stage = NSCustomMigrationStage(migratingFrom: ref, to: ref)
  stage.label = "a"
  stage.willMigrateHandler = { (manager: NSStagedMigrationManager, stage: NSCustomMigrationStage) in
    let _: NSPersistentContainer? = manager.container
    let _: NSManagedObjectModelReference = stage.currentModel
    let _: NSManagedObjectModelReference = stage.nextModel
  }
  stage.didMigrateHandler = nil
  let light = NSLightweightMigrationStage(["a"])
  let _: [String] = light.versionChecksums
  let staged = NSStagedMigrationManager([stage, light])
  let _: [NSMigrationStage] = staged.stages
}

private class Policy: NSEntityMigrationPolicy {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
  }
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}
  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}
