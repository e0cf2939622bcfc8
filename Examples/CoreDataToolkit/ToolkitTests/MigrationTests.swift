import CoreData
import XCTest

@testable import CoreDataToolkit

enum DemoVersion: String, ModelVersionProtocol {
  case one = "Demo1"
  case two = "Demo2"

  static var currentVersion: DemoVersion { .two }
  var modelName: String { "Demo" }
  var successor: DemoVersion? { self == .one ? .two : nil }
  func managedObjectModel() -> NSManagedObjectModel { DemoModel.makeModel(version: self == .one ? 1 : 2) }
}

final class MigrationTests: XCTestCase {
  private func makeStore() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    let container = NSPersistentContainer(name: "Demo", managedObjectModel: DemoVersion.one.managedObjectModel())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.loadPersistentStores { _, error in XCTAssertNil(error) }
    let context = container.viewContext
    for index in 0..<10 {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("note \(index)", forKey: "text")
    }
    try context.save()
    try container.persistentStoreCoordinator.persistentStores.forEach {
      try container.persistentStoreCoordinator.remove($0)
    }
    return url
  }

  func testProgressive() throws {
    let url = try makeStore()
    XCTAssertEqual(try DemoVersion(compatibleWithStoreAt: url), .one)
    XCTAssertTrue(Migrator<DemoVersion>.requiresMigration(at: url, to: .two))
    let migrator = Migrator<DemoVersion>(sourceURL: url)
    try migrator.migrate(to: .two)
    XCTAssertEqual(migrator.progress.fractionCompleted, 1)
    XCTAssertFalse(Migrator<DemoVersion>.requiresMigration(at: url, to: .two))
    XCTAssertEqual(try DemoVersion(compatibleWithStoreAt: url), .two)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DemoVersion.two.managedObjectModel())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      XCTAssertEqual(try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")), 10)
    }
  }

  func testOldStoreWithoutOptionFails() throws {
    let url = try makeStore()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DemoVersion.two.managedObjectModel())
    XCTAssertThrowsError(
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    ) { error in
      let error = error as NSError
      XCTAssertEqual(error.code, NSPersistentStoreIncompatibleVersionHashError)
      XCTAssertNotNil(error.userInfo["metadata"] as? [String: Any])
    }
  }

  func testCustomPolicy() throws {
    let url = try makeStore()
    let source = DemoVersion.one.managedObjectModel()
    let destination = DemoVersion.two.managedObjectModel()
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    XCTAssertEqual(mapping.entityMappingsByName.keys.sorted().contains("IEM_Transform_Note"), true)
    let noteMapping = try XCTUnwrap(mapping.mapping(to: "Note"))
    noteMapping.entityMigrationPolicyClassName = NSStringFromClass(StampingPolicy.self)
    noteMapping.mappingType = .customEntityMappingType
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    let target = url.appendingPathExtension("new")
    try manager.migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: target,
      destinationType: NSSQLiteStoreType,
      destinationOptions: nil)
    XCTAssertEqual(manager.userInfo?["seen"] as? Int, 10)
    let container = NSPersistentContainer(name: "Demo", managedObjectModel: destination)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: target)]
    container.loadPersistentStores { XCTAssertNil($1) }
    let notes = try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
    XCTAssertEqual(
      notes.compactMap { $0.value(forKey: "createdAt") as? Date }, Array(repeating: StampingPolicy.stamp, count: 10))
  }

  func testCancelling() throws {
    let url = try makeStore()
    let migrator = Migrator<DemoVersion>(sourceURL: url)
    migrator.progress.cancel()
    XCTAssertThrowsError(try migrator.migrate(to: .two))
    XCTAssertEqual(try DemoVersion(compatibleWithStoreAt: url), .one)
  }

  func testLightweightByContainer() throws {
    let url = try makeStore()
    let description = NSPersistentStoreDescription(url: url)
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    let container = NSPersistentContainer(name: "Demo", managedObjectModel: DemoVersion.two.managedObjectModel())
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { XCTAssertNil($1) }
    XCTAssertEqual(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")), 10)
  }
}
