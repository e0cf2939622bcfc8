import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Deferred steps of a migration")
struct DeferredMigrationTests {
  private func version(
    _ name: String, _ attributes: [AttributeDescription], indexes: [String] = []
  ) throws -> ModelVersion {
    ModelVersion(
      name: name,
      model: try model(
        EntityDescription(
          "Item", attributes: attributes,
          relationships: [RelationshipDescription("shop", to: "Shop", inverse: "items")],
          indexes: indexes.map { FetchIndexDescription("by\($0)", on: $0) }),
        EntityDescription(
          "Shop", attributes: [.init("name", .string)],
          relationships: [RelationshipDescription("items", toMany: "Item", inverse: "shop")])))
  }

  /// Three versions: two attributes are removed and an index is added, then an attribute with a former name is added.
  private func registry() throws -> ModelRegistry {
    ModelRegistry(
      versions: [
        try version(
          "1", [.init("a", .string), .init("b", .int32, isOptional: false, default: .integer(1)), .init("c", .string)]),
        try version("2", [.init("a", .string)], indexes: ["a"]),
        try version("3", [.init("a", .string), .init("b", .string)], indexes: ["a"]),
      ])
  }

  private func made(_ registry: ModelRegistry, at url: URL) throws {
    try MadeStore.make(registry.versions[0].model, at: url)
    try MadeStore.fill(registry.versions[0].model, at: url, rows: 40, seed: 5)
  }

  private var deferring: AutomaticMigrator {
    var migrator = AutomaticMigrator()
    migrator.defersWork = true
    // Otherwise no column is dropped.
    migrator.parking = .none
    return migrator
  }

  private func steps(at url: URL) throws -> [DeferredStep] {
    try PersistentStoreCoordinator.metadata(at: url).deferredSteps
  }

  @Test("Nothing is scanned while they are deferred, and the plan lists them")
  func plan() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      let plan = try MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry, migrator: deferring)
      let deferred = plan.steps.flatMap(\.deferred)
      #expect(deferred.count == 3)
      #expect(deferred.filter { $0.contains("DROP COLUMN") }.count == 2)
      #expect(deferred.filter { $0.contains("CREATE INDEX") }.count == 1)
      #expect(plan.steps.first { $0.operation.kind == .addIndex }?.deferred.count == 1)
      #expect(plan.steps.flatMap(\.sql).allSatisfy { $0.contains("RENAME COLUMN") })
      #expect(plan.description.contains("later: CREATE INDEX"))
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try #expect(steps(at: url).count == 3)
    }
  }

  @Test("Until then, objects are fetched, inserted, changed and deleted as usual")
  func between() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      let before = try StoreDump(of: registry.versions[0].model, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let expected = before.migrated(
        by: try ModelComparison(from: registry.versions[0].model, to: registry.versions[1].model))
      try #expect(StoreDump(of: registry.versions[1].model, at: url).differences(from: expected) == [])
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      try #expect(context.count(for: FetchRequest("Item")) == 40)
      let item = ManagedObject(entity: "Item", context: context)
      item["a"] = "new"
      let other = try #require(try context.fetch(FetchRequest("Item", where: "a != nil AND a != 'new'")).first)
      other["a"] = "changed"
      try context.save()
      try #expect(context.count(for: FetchRequest("Item", where: "a IN {'new', 'changed'}")) == 2)
      context.delete(item)
      try context.save()
      try #expect(!coordinator.deferredSteps().isEmpty)
      try #expect(coordinator.finishDeferredMigration())
      other["a"] = "changed again"
      try context.save()
      try #expect(context.count(for: FetchRequest("Item", where: "a == 'changed again'")) == 1)
      try #expect(coordinator.deferredSteps().isEmpty)
      try coordinator.remove(#require(coordinator.persistentStores.first))
      try MadeStore.expectNewStore(of: registry.versions[1].model, at: url)
    }
  }

  @Test("With little time, one step is performed at a time, each permanently")
  func slices() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      try coordinator.addStore(at: url)
      var counts: [Int] = []
      while try !coordinator.finishDeferredMigration(within: .zero) {
        counts.append(try steps(at: url).count)
      }
      // The shorter a statement, the sooner it finds the store idle for as long.
      #expect(counts == [2, 1])
      try #expect(steps(at: url).isEmpty)
      try #expect(coordinator.finishDeferredMigration(within: .zero))
      try coordinator.remove(#require(coordinator.persistentStores.first))
      try MadeStore.expectNewStore(of: registry.versions[1].model, at: url)
    }
  }

  @Test("A later migration performs deferred steps too, even if a name is used again", arguments: [false, true])
  func later(_ defersAgain: Bool) throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try (defersAgain ? deferring : AutomaticMigrator()).migrate(
        storeAt: url, to: registry.versions[2], registry: registry)
      // The values of the former attribute with the name aren't restored.
      try #expect(MadeStore.rows("SELECT DISTINCT ZB FROM ZITEM", at: url) == [["nil"]])
      if defersAgain {
        try #expect(steps(at: url).count == 3)
        let coordinator = PersistentStoreCoordinator(model: registry.versions[2].model, registry: registry)
        try coordinator.addStore(at: url)
        try #expect(coordinator.finishDeferredMigration())
        try coordinator.remove(#require(coordinator.persistentStores.first))
      }
      try #expect(steps(at: url).isEmpty)
      try MadeStore.expectNewStore(of: registry.versions[2].model, at: url)
    }
  }

  @Test("A migration to a new file leaves nothing to do")
  func copying() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try AutomaticMigrator(alwaysCopies: true).migrate(storeAt: url, to: registry.versions[2], registry: registry)
      try #expect(steps(at: url).isEmpty)
      try MadeStore.expectNewStore(of: registry.versions[2].model, at: url)
    }
  }

  @Test("Killed between two steps, the store is intact and the others are still deferred")
  func killed() throws {
    let registry = try registry()
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let expected = try StoreDump(of: registry.versions[1].model, at: url)
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      try coordinator.addStore(at: url)
      var isDone = false
      for number in 0..<5 where !isDone {
        // The files at this moment are what a process leaves if it is killed now.
        let image = folder.appendingPathComponent("killed-\(number)")
        try FileManager.default.createDirectory(at: image, withIntermediateDirectories: true)
        for name in ["Store.sqlite", "Store.sqlite-wal"] {
          try? FileManager.default.copyItem(
            at: folder.appendingPathComponent(name), to: image.appendingPathComponent(name))
        }
        let copy = image.appendingPathComponent("Store.sqlite")
        try #expect(StoreDump(of: registry.versions[1].model, at: copy) == expected)
        let another = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
        try another.addStore(at: copy)
        try #expect(another.finishDeferredMigration())
        try another.remove(#require(another.persistentStores.first))
        try MadeStore.expectNewStore(of: registry.versions[1].model, at: copy)
        isDone = try coordinator.finishDeferredMigration(within: .zero)
      }
      #expect(isDone)
    }
  }

  @Test("Left-over columns don't prevent a store from being identified by its columns, and aren't damage")
  func recognition() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: registry) { problems.append($0) }
      #expect(problems == [])
      let found = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(found.version?.name == "2")
    }
  }

  @Test("A read-only store reports deferred steps, and performs none")
  func readOnly() throws {
    let registry = try registry()
    try withTemporaryStore { url in
      try made(registry, at: url)
      try deferring.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
      let error = #expect(throws: PersistenceError.self) { try coordinator.finishDeferredMigration() }
      #expect(error?.code == .storeReadOnly)
    }
  }
}
