import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Laws of copying")
struct CopyLawTests {
  @Test(
    "In place, copied by SQL and copied object by object: three methods with the same result",
    .law("migration-three-ways", short: 40, long: 1000))
  func threeWays() {
    var done = 0
    let count = forEachSeed { seed in
      var models = RandomModels(seed: seed)
      let old = try models.model()
      models.change()
      let new = try models.model()
      guard let mapping = try? MappingModel.inferred(from: old, to: new) else { return }
      try withTemporaryFolder { folder in
        let store = folder.appendingPathComponent("old.sqlite")
        try MadeStore.make(old, at: store)
        try MadeStore.fill(old, at: store, rows: 6, seed: seed)
        let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
        let registry = ModelRegistry(versions: versions)
        guard try MigrationPlan(storeAt: store, to: versions[1], registry: registry).blockers.isEmpty else { return }
        done += 1
        let bytes = try Data(contentsOf: store)
        let bySQL = folder.appendingPathComponent("sql.sqlite")
        let byObject = folder.appendingPathComponent("objects.sqlite")
        try copy(store, bySQL, mapping, old, new, goesByObject: false, seed)
        try copy(store, byObject, mapping, old, new, goesByObject: true, seed)
        try #expect(Data(contentsOf: store) == bytes, "seed \(seed): the source changed")
        try AutomaticMigrator().migrate(storeAt: store, to: versions[1], registry: registry)
        let inPlace = try StoreDump(of: new, at: store)
        // Rows that SQL can't express are created object by object, with new version counters.
        var planner = CopyPlanner(mapping, from: .forNewStore(old), to: .forNewStore(new), storeIdentifier: "")
        let isMixed = try planner.make().usesObjects
        let sql = try StoreDump(of: new, at: bySQL)
        let ofSQL = isMixed
          ? sql.withoutVersions.differences(from: inPlace.withoutVersions) : sql.differences(from: inPlace)
        #expect(ofSQL == [], "seed \(seed), by SQL")
        let ofObjects = try StoreDump(of: new, at: byObject).withoutVersions
          .differences(from: inPlace.withoutVersions)
        #expect(ofObjects == [], "seed \(seed), object by object")
        for url in [bySQL, byObject] {
          try MadeStore.expectNewStore(of: new, at: url)
          var problems: [StoreProblem] = []
          try checkStore(at: url, registry: registry) { problems.append($0) }
          #expect(problems == [], "seed \(seed), \(url.lastPathComponent)")
        }
      }
    }
    #expect(done > count / 2 || count < 20)
  }

  @Test("New objects of a copied store get greater keys than deleted objects had")
  func deletedKeys() throws {
    let old = ModelVersion(name: "1", model: try model(EntityDescription("Item")))
    let new = ModelVersion(
      name: "2", model: try model(EntityDescription("Item", attributes: [AttributeDescription("a", .string)])))
    try withTemporaryStore { url in
      func use(_ version: ModelVersion, _ body: (ManagedObjectContext) throws -> Int64) throws -> Int64 {
        let coordinator = PersistentStoreCoordinator(model: version.model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        let key = try body(context)
        try context.save()
        try coordinator.remove(store)
        return key
      }
      let deleted = try use(old) { context in
        for _ in 0..<3 { try context.make("Item") }
        try context.save()
        let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
        let last = try #require(items.max { ($0.objectID.primaryKey ?? 0) < ($1.objectID.primaryKey ?? 0) })
        context.delete(last)
        return try #require(last.objectID.primaryKey)
      }
      try AutomaticMigrator(alwaysCopies: true)
        .migrate(storeAt: url, to: new, registry: ModelRegistry(versions: [old, new]))
      let inserted = try use(new) { context in
        let item = try context.make("Item")
        try context.save()
        return try #require(item.objectID.primaryKey)
      }
      #expect(inserted > deleted)
    }
  }

  private func copy(
    _ source: URL, _ target: URL, _ mapping: MappingModel, _ old: ManagedObjectModel, _ new: ManagedObjectModel,
    goesByObject: Bool, _ seed: UInt64
  ) throws {
    do {
      try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: source, to: target, mappingModel: mapping, policies: [], coreDataHashes: nil, goesByObject: goesByObject)
    } catch {
      Issue.record("seed \(seed), \(goesByObject ? "object by object" : "by SQL"): \(error)")
      throw error
    }
  }
}
