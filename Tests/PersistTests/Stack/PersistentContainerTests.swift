import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Containers")
struct PersistentContainerTests {
  private let people: ManagedObjectModel

  init() throws { people = try ManagedObjectModel(SampleModels.people) }

  /// A folder with a model `Shop.json`.
  private func withModelFolder(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try Data(SampleModels.people.json.utf8).write(to: folder.appendingPathComponent("Shop.json"))
      try body(folder)
    }
  }

  @Test("A container finds its model by name and creates its store, including folders")
  func byName() throws {
    try withModelFolder { folder in
      let container = try PersistentContainer(name: "Shop", modelsIn: folder)
      #expect(container.managedObjectModel.entities.map(\.name) == ["Person"] && container.name == "Shop")
      #expect(container.persistentStoreDescriptions.map { $0.url?.lastPathComponent } == ["Shop.sqlite"])
      #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
      let url = folder.appendingPathComponent("deep/er/Shop.sqlite")
      container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
      try container.loadPersistentStores()
      try container.loadPersistentStores()
      #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
    }
  }

  @Test("A missing model is an error that names the searched places")
  func missingModel() throws {
    try withTemporaryFolder { folder in
      let error = persistError { _ = try PersistentContainer(name: "Nothing", modelsIn: folder) }
      #expect(error?.code == .modelNotFound && error?.fix?.contains(folder.path) == true && error?.localizedDescription.contains("/") == false)
      #expect(persistError { _ = try PersistentContainer(name: "Nothing at all") }?.code == .modelNotFound)
    }
  }

  @Test("The model of a real program is found by its name, in source and compiled form", .needsSharedData)
  func realModels() throws {
    let cars = try SharedData.url("cars")
    try #expect(PersistentContainer(name: "SampleModel", modelsIn: cars).persistentStoreCoordinator.registry?.versions.count == 3)
    let compiled = cars.appendingPathComponent("Fixtures")
    try #expect(PersistentContainer(name: "SampleModel", modelsIn: compiled).managedObjectModel.entitiesByName["Car"] != nil)
  }

  @Test("Loading migrates an older store to the newest version by default")
  func migrating() throws {
    try withTemporaryStore { url in
      try PersistentStoreCoordinator(model: people).addStoreAndClose(at: url)
      var richer = SampleModels.people
      richer.entities[0].attributes.append(AttributeDescription("title", .string))
      let newer = try ManagedObjectModel(richer)
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: people), ModelVersion(name: "2", model: newer),
      ])
      let container = PersistentContainer(name: "Shop", model: newer, registry: registry)
      var description = PersistentStoreDescription(url: url)
      description.shouldMigrateStoreAutomatically = false
      container.persistentStoreDescriptions = [description]
      #expect(persistError { try container.loadPersistentStores() }?.code == .incompatibleModel)
      description.shouldMigrateStoreAutomatically = true
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      try #expect(container.newContext().make("Person", ["title": "Dr"])["title"] as? String == "Dr")
    }
  }

  @Test("Several descriptions: a file for one configuration, a read-only one, and one in memory")
  func descriptions() throws {
    try withTemporaryFolder { folder in
      var description = SampleModels.pets
      description.entities.append(EntityDescription("Price", attributes: [AttributeDescription("amount", .decimal)]))
      description.configurations = ["Pets": ["Person", "Pet"], "Prices": ["Price"]]
      let model = try ManagedObjectModel(description)
      let (pets, prices) = (folder.appendingPathComponent("p.sqlite"), folder.appendingPathComponent("q.sqlite"))
      try PersistentStoreCoordinator(model: model).addStoreAndClose(at: prices)
      let container = PersistentContainer(name: "Shop", model: model)
      container.persistentStoreDescriptions = [
        PersistentStoreDescription(url: pets, configuration: "Pets"),
        PersistentStoreDescription(url: prices, configuration: "Prices", isReadOnly: true), .inMemory,
      ]
      try container.loadPersistentStores()
      #expect(container.persistentStoreCoordinator.persistentStores.map(\.configuration) == ["Pets", "Prices", nil])
      #expect(container.persistentStoreCoordinator.persistentStores.map(\.isReadOnly) == [false, true, false])
      container.persistentStoreDescriptions = [PersistentStoreDescription(type: "XML", url: pets)]
      #expect(persistError { try container.loadPersistentStores() }?.code == .storeTypeMismatch)
      container.persistentStoreDescriptions = [PersistentStoreDescription(type: .sqlite)]
      #expect(persistError { try container.loadPersistentStores() }?.code == .fileAccess)
    }
  }

  @Test("The URL /dev/null means a store in memory, as in Core Data")
  func nullDevice() throws {
    let null = URL(fileURLWithPath: "/dev/null")
    var description = PersistentStoreDescription(url: PersistentContainer.defaultDirectoryURL())
    description.url = null
    let descriptions = [
      description, PersistentStoreDescription(url: null), PersistentStoreDescription(type: .sqlite, url: null),
    ]
    for description in descriptions {
      #expect(description.url == null && description.type == .sqlite)
      let container = PersistentContainer(name: "Shop", model: people)
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      try container.loadPersistentStores()
      #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [.inMemory])
      let context = container.newContext()
      try context.make("Person", ["name": "Ann"])
      try context.save()
      #expect(try container.newContext().names("Person") == ["Ann"])
    }
    description.url = PersistentContainer.defaultDirectoryURL()
    #expect(!description.isInMemory)

    let coordinator = PersistentStoreCoordinator(model: people)
    let store = try coordinator.addStore(at: null, options: .automaticMigration)
    #expect(store.type == .inMemory && store.url == nil)
    try coordinator.destroyPersistentStore(at: null)
    #expect(coordinator.persistentStores == [store])
    #expect(try PersistentContainer(at: null, model: people).persistentStoreCoordinator.storeCount == 1)
  }

  @Test("Loading asynchronously throws the errors of loading")
  func asynchronous() async throws {
    try await withTemporaryFolder { folder in
      let container = PersistentContainer(name: "Shop", model: people)
      container.persistentStoreDescriptions = [PersistentStoreDescription(url: folder)]
      await #expect(throws: PersistenceError.self) { try await container.loadPersistentStores() }
      container.persistentStoreDescriptions = [
        PersistentStoreDescription(url: folder.appendingPathComponent("a.sqlite"))
      ]
      try await container.loadPersistentStores()
      #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }
  }

  @Test("The main actor's context is always the same, and others are separate")
  @MainActor
  func contexts() throws {
    let container = try PersistentContainer(inMemory: people)
    #expect(container.viewContext === container.viewContext)
    #expect(container.newBackgroundContext() !== container.newBackgroundContext())
    let background = container.newBackgroundContext()
    try background.make("Person", ["name": "Ann"])
    try background.save()
    try #expect(container.viewContext.names("Person") == ["Ann"])
  }

  #if os(Linux)
    @Test("Stores are in the base directory specification's data folder, in a folder named for the program")
    func defaultFolder() {
      let program = ProcessInfo.processInfo.processName
      #expect(PersistentContainer.dataFolder(environment: ["XDG_DATA_HOME": "/data"]).path == "/data/\(program)")
      let home = ["HOME": "/home/ann", "XDG_DATA_HOME": "relative"]
      #expect(PersistentContainer.dataFolder(environment: home).path == "/home/ann/.local/share/\(program)")
    }
  #endif
}
