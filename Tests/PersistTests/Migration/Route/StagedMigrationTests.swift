import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Staged migration and routes")
struct StagedMigrationTests {
  private struct Pets {
    let versions: [ModelVersion]

    init() throws {
      let name = AttributeDescription("name", .string, isOptional: false)
      let pet = EntityDescription(
        "Pet", attributes: [name], relationships: [.init("owner", to: "User", inverse: "pet")])
      let link = RelationshipDescription("pet", to: "Pet", inverse: "owner")
      versions = [
        ModelVersion(
          name: "Pets 1", model: try model(EntityDescription("User", attributes: [name, .init("petName", .string)]))),
        ModelVersion(
          name: "Pets 2",
          model: try model(
            EntityDescription("User", attributes: [name, .init("petName", .string)], relationships: [link]), pet)),
        ModelVersion(
          name: "Pets 3", model: try model(EntityDescription("User", attributes: [name], relationships: [link]), pet)),
      ]
    }

    func fill(_ url: URL) throws {
      let coordinator = PersistentStoreCoordinator(model: versions[0].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<3 {
        let user = ManagedObject(entity: "User", context: context)
        user["name"] = "user \(number)"
        user["petName"] = "pet \(number)"
      }
      try context.save()
      try coordinator.remove(store)
    }

    var makePets: StagedMigration.Stage {
      .custom(from: versions[0], to: versions[1], didMigrate: { context in
        for user in try context.fetch(FetchRequest("User")) {
          let pet = try context.create("Pet")
          pet["name"] = user["petName"]
          pet["owner"] = user
        }
      })
    }
  }

  @Test("MAP-16: a custom stage creates pets from names, and a lightweight one after it keeps them", arguments: [2, 3])
  func pets(version: Int) throws {
    let pets = try Pets()
    let stages: [StagedMigration.Stage] =
      version == 2 ? [pets.makePets] : [pets.makePets, .lightweight([pets.versions[1], pets.versions[2]])]
    try withTemporaryStore { url in
      try pets.fill(url)
      let coordinator = PersistentStoreCoordinator(model: pets.versions[version - 1].model)
      let staged = try StagedMigration(stages)
      try coordinator.addStore(at: url, options: .stagedMigration(staged))
      let context = ManagedObjectContext(coordinator)
      let users = try context.fetch(FetchRequest("User", sortedBy: "name"))
      #expect(users.map { ($0["pet"] as? ManagedObject)?["name"] as? String } == ["pet 0", "pet 1", "pet 2"])
    }
  }

  @Test(
    "A custom stage runs although no stage lists the store's version or the target version", arguments: [0, 1],
    [2, 3, 4])
  func unlistedVersions(from source: Int, to destination: Int) throws {
    let pets = try Pets()
    let older = ModelVersion(
      name: "Pets 0",
      model: try model(EntityDescription("User", attributes: [.init("name", .string, isOptional: false)])))
    var newest = pets.versions[2].model.description
    newest.entities[0].attributes.append(.init("age", .int16))
    let versions = [older] + pets.versions + [ModelVersion(name: "Pets 4", model: try ManagedObjectModel(newest))]
    let stage = StagedMigration.Stage.custom(
      from: versions[1], to: versions[2],
      didMigrate: { context in
        for user in try context.fetch(FetchRequest("User")) { user["name"] = "\(user["name"] ?? ""), staged" }
      })
    let migrator = AutomaticMigrator(staged: try StagedMigration([stage]))
    let registry = ModelRegistry(versions: versions)
    try withTemporaryStore { url in
      try MadeStore.make(versions[source].model, at: url)
      try MadeStore.run("INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann')", at: url)
      let report = try migrator.migrate(storeAt: url, to: versions[destination], registry: registry)
      #expect(report.hops == 1 + (source == 0 ? 1 : 0) + (destination == 2 ? 0 : 1))
      try #expect(MadeStore.rows("SELECT ZNAME FROM ZUSER", at: url) == [["Ann, staged"]])
    }
  }

  @Test("A migration that may need a custom stage is refused if the order of the versions isn't known")
  func unknownOrder() throws {
    let pets = try Pets()
    let staged = try StagedMigration([pets.makePets])
    try withTemporaryStore { url in
      try pets.fill(url)
      let before = try StoreSnapshot(url)
      let error = #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator(model: pets.versions[2].model)
          .addStore(at: url, options: .stagedMigration(staged))
      }
      #expect(error?.code == .missingMappingModel)
      #expect(error?.message.contains("'Pets 1' to 'Pets 2'") == true)
      try #expect(StoreSnapshot(url) == before)
    }
  }

  @Test("A store that is past every custom stage needs none")
  func pastStages() throws {
    let pets = try Pets()
    let migrator = AutomaticMigrator(staged: try StagedMigration([pets.makePets]))
    try withTemporaryStore { url in
      try pets.fill(url)
      try migrator.migrate(storeAt: url, to: pets.versions[1], registry: nil)
      let coordinator = PersistentStoreCoordinator(model: pets.versions[2].model)
      try coordinator.addStore(at: url, options: StoreOptions(migrator: migrator))
      let context = ManagedObjectContext(coordinator)
      try #expect(context.count(for: FetchRequest("Pet")) == 3)
    }
  }

  @Test(
    "Progress and the log of a staged migration name the stages' versions, although the models have no identifiers",
    arguments: [2, 3], [false, true])
  func names(version: Int, isOtherInstance: Bool) throws {
    let pets = try Pets()
    let target = pets.versions[version - 1]
    let model = isOtherInstance ? try ManagedObjectModel(target.model.description) : target.model
    let reported = Mutex<Set<String>>([])
    let staged = try StagedMigration([pets.makePets, .lightweight([pets.versions[1], pets.versions[2]])])
    let migrator = AutomaticMigrator(staged: staged) { progress in
      reported.withLock { $0.formUnion([progress.hop.from, progress.hop.to]) }
      return true
    }
    try withTemporaryStore { url in
      try pets.fill(url)
      try PersistentStoreCoordinator(model: model).addStore(at: url, options: StoreOptions(migrator: migrator))
      let entry = try #require(PersistentStoreCoordinator.metadata(at: url).migrationLog.last)
      #expect(entry.from == "Pets 1" && entry.to == target.name)
      #expect(reported.withLock { $0 } == Set(pets.versions.prefix(version).map(\.name)))
    }
  }

  @Test("MAP-16: two stages can't end at the same version")
  func sameEnd() throws {
    let pets = try Pets()
    let error = #expect(throws: PersistenceError.self) { try StagedMigration([pets.makePets, pets.makePets]) }
    #expect(error?.code == .invalidRequest)
  }

  @Test("An error thrown by a stage ends the migration, and every byte of the store is unchanged")
  func failure() throws {
    struct Refusal: Error {}
    let pets = try Pets()
    let staged = try StagedMigration([
      .custom(from: pets.versions[0], to: pets.versions[1], didMigrate: { _ in throw Refusal() })
    ])
    try withTemporaryStore { url in
      try pets.fill(url)
      let before = try StoreSnapshot(url)
      #expect(throws: Refusal.self) {
        try PersistentStoreCoordinator(model: pets.versions[1].model)
          .addStore(at: url, options: .stagedMigration(staged))
      }
      try #expect(StoreSnapshot(url) == before)
      if url.isFileURL {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(names == [url.lastPathComponent])
      }
    }
  }

  @Test("MAP-17: an old store needs migration, a migrated one doesn't; steps are found by their mapping models")
  func needsMigration() throws {
    let pets = try Pets()
    let registry = ModelRegistry(versions: pets.versions)
    try withTemporaryStore { url in
      try pets.fill(url)
      let metadata = try PersistentStoreCoordinator.metadata(at: url)
      #expect(MigrationManager.isCompatible(pets.versions[0].model, withMetadata: metadata))
      #expect(!MigrationManager.isCompatible(pets.versions[2].model, withMetadata: metadata))
      let empty = StoreMetadata(identifier: "", values: [:])
      #expect(!MigrationManager.isCompatible(pets.versions[0].model, withMetadata: empty))
      try AutomaticMigrator(alwaysCopies: true).migrate(storeAt: url, to: pets.versions[2], registry: registry)
      let now = try PersistentStoreCoordinator.metadata(at: url)
      #expect(MigrationManager.isCompatible(pets.versions[2].model, withMetadata: now))
      #expect(now.identifier == metadata.identifier)
    }
  }

  @Test("A mapping model for a hop between is used; the way to it and from it is one hop each; the plan says so before")
  func chain() throws {
    let versions = try (1...5).map { number in
      ModelVersion(
        name: "V\(number)",
        model: try model(
          EntityDescription(
            "Item", attributes: [.init("price", .int64)] + (1...number).map { .init("a\($0)", .string) })))
    }
    var mapping = try MappingModel.inferred(from: versions[2].model, to: versions[3].model)
    mapping.sourceVersion = "V3"
    mapping.destinationVersion = "V4"
    let price = try #require(mapping.entityMappings[0].attributeMappings.firstIndex { $0.name == "price" })
    mapping.entityMappings[0].attributeMappings[price] = try PropertyMapping("price", "$source.price * 100")
    let registry = ModelRegistry(versions: versions)
    let migrator = AutomaticMigrator(countsRows: true, mappingModels: [mapping])
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: versions[0].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      ManagedObject(entity: "Item", context: context)["price"] = 7
      try context.save()
      try coordinator.remove(store)
      let plan = try MigrationPlan(storeAt: url, to: versions[4], registry: registry, migrator: migrator)
      #expect(plan.way == .copy)
      #expect(plan.hops.map(\.way) == [.inPlace, .copy, .inPlace])
      #expect(plan.hops.map(\.to) == ["V3", "V4", "V5"])
      #expect(plan.hops.flatMap(\.steps) == plan.steps)
      #expect(plan.steps.contains { $0.operation.kind == .mapEntity })
      let report = try migrator.migrate(storeAt: url, to: versions[4], registry: registry)
      #expect(report.way == .copy)
      #expect(report.hops == 3)
      try #expect(MadeStore.rows("SELECT ZPRICE FROM ZITEM", at: url) == [["700"]])
    }
  }

  @Test(
    "Large values are copied too, and files that no row names any longer are deleted",
    .aboutFilesOfLargeValues)
  func largeValues() throws {
    func photos(_ more: AttributeDescription...) throws -> ManagedObjectModel {
      try model(
        EntityDescription("Photo", attributes: [.init("data", .binary, allowsExternalStorage: true)] + more))
    }
    let versions = [
      ModelVersion(name: "1", model: try photos(.init("old", .binary, allowsExternalStorage: true))),
      ModelVersion(name: "2", model: try photos(.init("title", .string))),
    ]
    try withTemporaryStore { url in
      let large = Data(repeating: 7, count: 300_000)
      let coordinator = PersistentStoreCoordinator(model: versions[0].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let photo = ManagedObject(entity: "Photo", context: context)
      photo["data"] = large
      photo["old"] = Data(repeating: 8, count: 300_000)
      try context.save()
      try coordinator.remove(store)
      #expect(ExternalDataFolder(storeAt: url).names().count == 2)
      try AutomaticMigrator(alwaysCopies: true).migrate(
        storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      #expect(ExternalDataFolder(storeAt: url).names().count == 1)
      let after = PersistentStoreCoordinator(model: versions[1].model)
      try after.addStore(at: url)
      let reading = ManagedObjectContext(after)
      let found = try #require(reading.fetch(FetchRequest("Photo")).first)
      #expect(found["data"] as? Data == large)
    }
  }

  @Test("A store that others have open is migrated nevertheless, and they notice it at their next fetch")
  func openElsewhere() throws {
    let pets = try Pets()
    try withTemporaryStore { url in
      try pets.fill(url)
      let other = PersistentStoreCoordinator(model: pets.versions[0].model)
      let store = try other.addStore(at: url)
      try #expect(ManagedObjectContext(other).count(for: FetchRequest("User")) == 3)
      try AutomaticMigrator(alwaysCopies: true).migrate(
        storeAt: url, to: pets.versions[2], registry: ModelRegistry(versions: pets.versions))
      let error = #expect(throws: PersistenceError.self) {
        try ManagedObjectContext(other).count(for: FetchRequest("User"))
      }
      #expect(error?.code == .incompatibleModel)
      try other.remove(store)
      let after = PersistentStoreCoordinator(model: pets.versions[2].model)
      try after.addStore(at: url)
      try #expect(ManagedObjectContext(after).count(for: FetchRequest("User")) == 3)
    }
  }
}
