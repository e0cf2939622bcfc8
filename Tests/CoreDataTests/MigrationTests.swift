import CoreData
import Foundation
import Testing

@Suite("Migrating with Core Data's classes")
struct MigrationTests {
  private let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
    let context = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    department.setValue("Engineering", forKey: "name")
    context.employee("Alice", 9, in: department)
    try context.save()
  }

  private func check(_ context: NSManagedObjectContext, title: String?) throws {
    let employees = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
    #expect(employees.map { $0.value(forKey: "name") as? String } == ["Alice"])
    #expect(employees.first?.value(forKey: "salary") as? Int32 == 9)
    #expect(employees.first?.value(forKey: "title") as? String == title)
    #expect(employees.first?.value(forKeyPath: "department.name") as? String == "Engineering")
  }

  @Test("A store of another version needs the option of automatic migration")
  func automatic() throws {
    #expect { try NSManagedObjectContext.opening(folder.store(), TestModels.staff(isSecond: true)) } throws: { error in
      let error = error as NSError
      let metadata = error.userInfo["metadata"] as? [String: Any]
      return error.code == NSPersistentStoreIncompatibleVersionHashError && error.userInfo["reason"] is String
        && TestModels.staff().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata ?? [:])
    }
    let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    try check(.opening(folder.store(), TestModels.staff(isSecond: true), options: options), title: nil)
  }

  @Test("An inferred mapping model migrates to another file")
  func inferred() throws {
    let (source, destination) = (TestModels.staff(), TestModels.staff(isSecond: true))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    #expect(mapping.entityMappingsByName["IEM_Transform_Employee"]?.attributeMappings?.count == 3)
    #expect(mapping.entityMappingsByName["IEM_Copy_Department"]?.mappingType == .copyEntityMappingType)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    try manager.migrateStore(
      from: folder.store(), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
      toDestinationURL: folder.store("new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
    try check(.opening(folder.store("new"), destination), title: nil)
    #expect(manager.migrationProgress == 0)
  }

  @Test("A policy that the mapping model names creates the objects")
  func policy() throws {
    let (source, destination) = (TestModels.staff(), TestModels.staff(isSecond: true))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    let employees = try #require(mapping.entityMappingsByName["IEM_Transform_Employee"])
    employees.mappingType = .customEntityMappingType
    employees.entityMigrationPolicyClassName = "CoreDataTests.TitlePolicy"
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.userInfo = ["title": "Engineer"]
    try manager.migrateStore(
      from: folder.store(), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
      toDestinationURL: folder.store("new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
    try check(.opening(folder.store("new"), destination), title: "Engineer")
  }

  @Test("Handlers of stages run at their versions")
  func staged() throws {
    let (source, destination) = (TestModels.staff(), TestModels.staff(isSecond: true))
    let stage = NSCustomMigrationStage(
      migratingFrom: NSManagedObjectModelReference(model: source, versionChecksum: "1"),
      to: NSManagedObjectModelReference(model: destination, versionChecksum: "2"))
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.newBackgroundContext())
      try context.performAndWait {
        for employee in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")) {
          employee.setValue("Director", forKey: "title")
        }
        try context.save()
      }
    }
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage]),
    ]
    try check(.opening(folder.store(), destination, options: options), title: "Director")
  }

  @Test("Metadata tell whether a model fits a store")
  func metadata() throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: folder.store(), options: nil)
    #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    #expect(metadata[NSStoreUUIDKey] is String)
    #expect(TestModels.staff().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!TestModels.staff(isSecond: true).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}

final class TitlePolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let created = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
    created.first?.setValue(manager.userInfo?["title"], forKey: "title")
  }
}
