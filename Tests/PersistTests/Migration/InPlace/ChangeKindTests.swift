import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Every kind of change in place")
struct ChangeKindTests {
  private func work(_ kind: ChangeKind, canDropColumns: Bool = true) throws -> InPlaceWork {
    let old = TableMap.forNewStore(kind.old)
    return InPlacePlanner.plan(
      from: old, schema: StoreSchema(newStore: old), to: .forNewStore(kind.new),
      comparison: try ModelComparison(from: kind.old, to: kind.new), canDropColumns: canDropColumns)
  }

  @Test("Every row keeps every value, and the store becomes a new store of the model",
    arguments: ChangeKind.all.filter(\.takesAllRows))
  func rows(_ kind: ChangeKind) throws {
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: kind.old), ModelVersion(name: "2", model: kind.new)])
    for (defersWork, budget) in [(false, 0), (true, 20), (true, 0)] {
      try withTemporaryStore { url in
        try MadeStore.make(kind.old, at: url)
        try MadeStore.fill(kind.old, at: url, rows: 25, seed: 11)
        let before = try StoreDump(of: kind.old, at: url)
        var migrator = AutomaticMigrator()
        migrator.defersWork = defersWork
        migrator.deferralBudget = .milliseconds(budget)
        try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
        let expected = before.migrated(by: try ModelComparison(from: kind.old, to: kind.new))
        try #expect(StoreDump(of: kind.new, at: url).differences(from: expected) == [])
        if defersWork {
          let coordinator = PersistentStoreCoordinator(model: kind.new)
          try coordinator.addStore(at: url)
          try #expect(coordinator.finishDeferredMigration())
          try coordinator.remove(#require(coordinator.persistentStores.first))
          try #expect(StoreDump(of: kind.new, at: url).differences(from: expected) == [])
        }
        try MadeStore.expectNewStore(of: kind.new, at: url)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: registry) { problems.append($0) }
        #expect(problems == [])
      }
    }
  }

  @Test("It takes a few statements, and scans no table more often than necessary", arguments: ChangeKind.all)
  func counts(_ kind: ChangeKind) throws {
    let changes = try work(kind).changes.map(\.change)
    let texts = changes.flatMap { SQLText.statements($0).map(\.text) }
    // Z_PRIMARYKEY has as many rows as there are entities.
    let statements = texts.filter { !$0.contains("Z_PRIMARYKEY") }
    #expect(statements.count <= kind.statements, "\(statements.joined(separator: "\n"))")
    // Creating a new index reads the rows, and writes none.
    let writes = changes.filter { if case .createIndex = $0 { false } else { true } }
    let passes = Dictionary(grouping: writes.compactMap(\.writtenTable), by: { $0 }).mapValues(\.count)
    #expect(passes.values.max() ?? 0 <= kind.passes, "\(statements.joined(separator: "\n"))")
  }

  @Test("A renaming identifier leads to its values across skipped versions too")
  func skippedVersions() throws {
    func version(
      _ name: String, _ attribute: AttributeDescription, _ entity: EntityDescription
    ) throws -> ModelVersion {
      var entity = entity
      entity.attributes = [attribute]
      return ModelVersion(name: name, model: try model(entity))
    }
    let versions = try [
      version("1", .init("a", .string), EntityDescription("One")),
      version("2", .init("b", .string, renamingIdentifier: "a"), EntityDescription("Two", renamingIdentifier: "One")),
      version("3", .init("c", .string, renamingIdentifier: "b"), EntityDescription("Three", renamingIdentifier: "Two")),
    ]
    let registry = ModelRegistry(versions: versions)
    for way in [[1, 2], [2]] {
      try withTemporaryStore { url in
        try MadeStore.make(versions[0].model, at: url)
        try MadeStore.fill(versions[0].model, at: url, rows: 9, seed: 2)
        let before = try MadeStore.rows("SELECT Z_PK, ZA FROM ZONE ORDER BY 1", at: url)
        for number in way {
          try AutomaticMigrator().migrate(storeAt: url, to: versions[number], registry: registry)
        }
        try #expect(MadeStore.rows("SELECT Z_PK, ZC FROM ZTHREE ORDER BY 1", at: url) == before)
      }
    }
  }

  @Test("If no number changes, Z_PRIMARYKEY isn't written")
  func entityRows() throws {
    for kind in ChangeKind.all where kind.old.entities.map(\.name) == kind.new.entities.map(\.name) {
      let parents = kind.old.entities.map { $0.superentity?.name }
      guard parents == kind.new.entities.map({ $0.superentity?.name }) else { continue }
      let phases = try work(kind).changes.map(\.phase)
      #expect(!phases.contains(.entities), "\(kind.name)")
      #expect(!phases.contains(.renumber), "\(kind.name)")
    }
  }

  @Test("Elements of a composite attribute are added and removed, and those of another type are refused")
  func composites() throws {
    func place(_ elements: AttributeDescription...) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription("Item", attributes: [.init("place", .composite, compositeName: "Place")])
          ], composites: [CompositeDescription("Place", elements: elements)]))
    }
    let old = try place(.init("city", .string), .init("zip", .string))
    let new = try place(.init("city", .string), .init("floor", .int16))
    try #expect(
      differences(old, new) == [
        "change elements Item.place (floor added)", "change elements Item.place (zip removed)",
      ])
    let refused = try ModelComparison(from: old, to: place(.init("city", .int32), .init("zip", .string)))
    #expect(refused.way == .impossible)
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      let columns = TableMap.forNewStore(old).layout["ZITEM"]?.map(\.name) ?? []
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(columns.joined(separator: ", "))) VALUES (1, 1, 1, 'Rome', '00118')",
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(columns.joined(separator: ", "))) VALUES (2, 1, 1, 'Pisa', NULL)",
        at: url)
      let plan = try MigrationPlan(storeAt: url, registry: registry)
      #expect(plan.losses.map(\.description) == ["Item.place: element zip removed, 1 row"])
      try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      try MadeStore.expectNewStore(of: new, at: url)
      let city = try #require(columns.first { $0.hasSuffix("CITY") })
      try #expect(MadeStore.rows("SELECT \(city) FROM ZITEM ORDER BY Z_PK", at: url) == [["Rome"], ["Pisa"]])
    }
  }
}
