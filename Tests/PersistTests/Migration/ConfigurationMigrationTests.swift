import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Migration of stores created for one configuration")
struct ConfigurationMigrationTests {
  private static let item = EntityDescription(
    "Item", attributes: [.init("name", .string)], relationships: [.init("tags", toMany: "Tag", inverse: "items")])
  private static let tag = EntityDescription(
    "Tag", attributes: [.init("name", .string)], relationships: [.init("items", toMany: "Item", inverse: "tags")])
  private static let note = EntityDescription("Note", attributes: [.init("text", .string)])

  private static func model(_ entities: [EntityDescription]) throws -> ManagedObjectModel {
    var description = ModelDescription(entities: entities)
    let names = entities.map(\.name)
    let cloud = names.filter { ["Item", "Tag"].contains($0) }
    description.configurations = ["Cloud": cloud, "Local": names.filter { !cloud.contains($0) }]
    return try ManagedObjectModel(description)
  }

  @Test(
    "It keeps its contents, and afterward has tables for every entity of the new version, in place and by copy", .aboutFiles("stores that Core Data made"),
    arguments: [false, true], ["another attribute", "the other entity renamed", "the other entity gone", "related"])
  func migrate(copies: Bool, change: String) throws {
    let old = try Self.model([Self.item, Self.tag, Self.note])
    var (item, note) = (Self.item, Self.note)
    item.attributes.append(.init("size", .int64))
    var others = [note]
    switch change {
    case "the other entity renamed":
      (note.name, note.renamingIdentifier) = ("Memo", "Note")
      others = [note]
    case "the other entity gone": others = []
    case "related":
      item.relationships.append(.init("notes", toMany: "Note", inverse: "item"))
      note.relationships.append(.init("item", to: "Item", inverse: "notes"))
      others = [note]
    default: break
    }
    let new = try Self.model([item, Self.tag] + others)
    try withTemporaryStore { url in
      let part = try ManagedObjectModel(ModelDescription(entities: [Self.item, Self.tag]))
      try MadeStore.make(part, at: url)
      try MadeStore.fill(part, at: url, rows: 3, seed: 1)
      // As Core Data leaves it, without the record and, for this test, without the model.
      try MadeStore.run("DROP TABLE PERSIST_METADATA", at: url)
      let before = try StoreContent(of: part, at: url)
      let versions = [
        ModelVersion(name: "1", model: old, coreDataHashes: old.fingerprints.mapValues(\.bytes)),
        ModelVersion(name: "2", model: new),
      ]
      let registry = ModelRegistry(versions: versions)
      let plan = try MigrationPlan(storeAt: url, to: versions[1], registry: registry)
      #expect(plan.losses == [] && plan.blockers == [])
      var migrator = AutomaticMigrator(allowsLoss: false)
      migrator.alwaysCopies = copies
      try migrator.migrate(storeAt: url, to: versions[1], registry: registry)
      try MadeStore.expectNewStore(of: new, at: url)
      let after = try StoreContent(of: new, at: url)
      #expect(after.values == before.values)
      #expect(after.pairs("Item", "tags") == before.pairs("Item", "tags"))
      #expect(!after.pairs("Item", "tags").isEmpty)
      try checkStore(at: url, registry: registry) { Issue.record("\($0)") }
    }
  }
}
