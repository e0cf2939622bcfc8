import CoreData
import Foundation
import PersistTestSupport
import Testing

/// Finds or creates a car's maker, as the policy of a real application does.
final class V2to3MakerPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    guard let name = source.value(forKey: "maker") as? String else { return }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
    request.predicate = NSPredicate(format: "%K == %@", "name", name)
    request.fetchLimit = 1
    let context = manager.destinationContext
    let maker = try context.fetch(request).first
      ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
    maker.setValue(name, forKey: "name")
    for car in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
      car.setValue(maker, forKey: "createdBy")
      let seen = manager.userInfo?["cars"] as? Int ?? 0
      manager.userInfo = ["cars": seen + 1]
    }
  }
}

@Suite("Mapping models in Xcode's format with an application's policies", .needsSharedData)
struct MappingFileTests {
  private let folder: StoreFolder
  private let models: URL

  init() throws {
    folder = try StoreFolder()
    models = try SharedData.url("cars/SampleModel.xcdatamodeld")
  }

  private func model(_ name: String) throws -> NSManagedObjectModel {
    try #require(NSManagedObjectModel(contentsOf: models.appendingPathComponent("\(name).xcdatamodel")))
  }

  /// A store with the data of the second version.
  private func store() throws -> URL {
    let url = folder.store()
    try FileManager.default.copyItem(at: SharedData.url("cars/Fixtures/SampleModel_V2.sqlite"), to: url)
    return url
  }

  private func check(_ context: NSManagedObjectContext) throws {
    let makers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker"))
    #expect(makers.count == 10)
    let cars = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Car"))
    #expect(cars.count == 125)
    for car in cars {
      #expect(car.value(forKey: "createdBy") is NSManagedObject)
      if let owner = car.value(forKey: "owner") as? NSManagedObject {
        #expect((car.value(forKey: "previousOwners") as? NSSet)?.contains(owner) == true)
        #expect((owner.value(forKey: "previousCars") as? NSSet)?.contains(car) == true)
      } else {
        #expect((car.value(forKey: "previousOwners") as? NSSet)?.count == 0)
      }
    }
  }

  @Test("Its entity mappings can be read and changed before the migration", arguments: ["xcmappingmodel", "cdm"])
  func reading(format: String) throws {
    let path = format == "cdm" ? "cars/Fixtures/V2toV3.cdm" : "cars/MappingModels/V2toV3.xcmappingmodel"
    let mapping = try #require(NSMappingModel(contentsOf: SharedData.url(path)))
    let policies = mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName)
    // A source without its models beside it is read with the models of the migration.
    guard format == "cdm" else { return #expect(policies.count == 3 || policies.isEmpty) }
    #expect(policies.count == 3 && policies.allSatisfy { $0.hasSuffix("V2to3MakerPolicy") })
  }

  @Test("A source that lies beside its model has entity mappings")
  func beside() throws {
    try FileManager.default.copyItem(at: models, to: folder.url.appendingPathComponent("SampleModel.xcdatamodeld"))
    let file = folder.url.appendingPathComponent("V2toV3.xcmappingmodel")
    try FileManager.default.copyItem(at: SharedData.url("cars/MappingModels/V2toV3.xcmappingmodel"), to: file)
    let mapping = try #require(NSMappingModel(contentsOf: file))
    #expect(mapping.entityMappings.compactMap(\.entityMigrationPolicyClassName).count == 3)
    #expect(mapping.entityMappings.contains { $0.destinationEntityName == "SportCar" })
  }

  @Test("A migration manager runs it, and its progress can be observed", arguments: ["xcmappingmodel", "cdm"])
  func manager(format: String) throws {
    let path = format == "cdm" ? "cars/Fixtures/V2toV3.cdm" : "cars/MappingModels/V2toV3.xcmappingmodel"
    let mapping = try #require(NSMappingModel(contentsOf: SharedData.url(path)))
    let (source, destination) = (try model("SampleModel2"), try model("SampleModel3"))
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    var values: [Float] = []
    let observation = manager.observe(\.migrationProgress, options: [.new, .initial]) { manager, change in
      values.append(change.newValue ?? -1)
      #expect(change.oldValue == nil && manager.sourceModel === source)
    }
    try manager.migrateStore(
      from: store(), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
      toDestinationURL: folder.store("new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
    #expect(values.count > 2 && values.first == 0 && values == values.sorted())
    #expect(values.allSatisfy { (0...1).contains($0) })
    #expect(manager.userInfo?["cars"] as? Int == 125)
    observation.invalidate()
    try check(.opening(folder.store("new"), destination))
  }

  @Test("Adding a store with the option of automatic migration finds it beside the model")
  func automatic() throws {
    try FileManager.default.copyItem(at: models, to: folder.url.appendingPathComponent("SampleModel.xcdatamodeld"))
    try FileManager.default.copyItem(
      at: SharedData.url("cars/MappingModels/V2toV3.xcmappingmodel"),
      to: folder.url.appendingPathComponent("V2toV3.xcmappingmodel"))
    let file = folder.url.appendingPathComponent("SampleModel.xcdatamodeld/SampleModel3.xcdatamodel")
    let model = try #require(NSManagedObjectModel(contentsOf: file))
    let description = NSPersistentStoreDescription(url: try store())
    description.shouldInferMappingModelAutomatically = false
    let container = NSPersistentContainer(name: "SampleModel", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    try #require(failure == nil)
    try check(container.viewContext)
  }
}
