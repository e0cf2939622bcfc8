import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Losses by mapping models")
struct MappingLossTests {
  private static func shop() throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Item", attributes: [.init("name", .string), .init("price", .double)],
        relationships: [
          .init("shelf", to: "Shelf", inverse: "items"), .init("tags", toMany: "Tag", inverse: "items"),
        ]),
      EntityDescription("Book", parent: "Item", attributes: [.init("pages", .int32)]),
      EntityDescription("Shelf", relationships: [.init("items", toMany: "Item", inverse: "shelf")]),
      EntityDescription("Tag", attributes: [.init("name", .string)], relationships: [
        .init("items", toMany: "Item", inverse: "tags")
      ]))
  }

  /// Four items, two of them books, on one shelf, with a tag each.
  private func withShop(_ body: (URL, ModelRegistry) throws -> Void) throws {
    let (old, new) = (try Self.shop(), try Self.shop())
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: old)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let shelf = try context.create("Shelf")
      for number in 0..<4 {
        let item = try context.create(number < 2 ? "Item" : "Book")
        item["name"] = "item \(number)"
        item["price"] = number == 0 ? nil : Double(number)
        item["shelf"] = shelf
        let tag = try context.create("Tag")
        tag["name"] = "tag \(number)"
        try item.setValue([tag], forKey: "tags")
      }
      try context.save()
      try coordinator.remove(store)
      // The versions differ only in a modifier, so that the mapping model alone determines the losses.
      var description = new.description
      for index in description.entities.indices { description.entities[index].versionHashModifier = "2" }
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: try ManagedObjectModel(description)),
      ])
      try body(url, registry)
    }
  }

  private func mapping(
    _ registry: ModelRegistry, _ change: (inout MappingModel) throws -> Void
  ) throws -> MappingModel {
    var mapping = try MappingModel.inferred(
      from: registry.version(named: "1").model, to: registry.version(named: "2").model)
    (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
    try change(&mapping)
    return mapping
  }

  private func expect(_ losses: [String], _ change: (inout MappingModel) throws -> Void) throws {
    try withShop { url, registry in
      let mapping = try mapping(registry, change)
      var migrator = AutomaticMigrator(mappingModels: [mapping])
      let target = try registry.version(named: "2")
      let plan = try MigrationPlan(storeAt: url, to: target, registry: registry, migrator: migrator)
      #expect(plan.losses.map(\.description) == losses)
      #expect(plan.isPossible)
      migrator.allowsLoss = false
      let before = try StoreSnapshot(url)
      let error = persistError { try migrator.migrate(storeAt: url, to: target, registry: registry) }
      if losses.isEmpty {
        #expect(error == nil)
      } else {
        let problems = error.map { $0.errors.isEmpty ? [$0] : $0.errors } ?? []
        #expect(problems.map(\.message) == losses.map { "\($0) would be lost." })
        try #expect(StoreSnapshot(url) == before)
        migrator.allowsLoss = true
        try migrator.migrate(storeAt: url, to: target, registry: registry)
      }
    }
  }

  @Test("A mapping model that maps everything loses nothing")
  func nothing() throws { try expect([]) { _ in } }

  @Test("An entity without a mapping")
  func entity() throws {
    try expect(["Tag: entity not mapped, 4 rows"]) { try $0.removeEntityMapping("Tag") }
  }

  @Test("Objects excluded by a filter, and members that are therefore not found")
  func filter() throws {
    try expect([
      "Tag: objects that the filter of 'IEM_Transform_Tag' leaves out, 1 row",
      "Item.tags: members for which no entity mapping makes an object, 1 row",
    ]) {
      try $0.edit("IEM_Transform_Tag") { $0.sourceExpression = .sourceObjects(of: "Tag", where: "name != 'tag 2'") }
    }
  }

  @Test("An attribute without an expression, for the entities that don't map it")
  func attribute() throws {
    try expect(["Item.price: attribute not mapped, 2 rows"]) {
      try $0.edit("IEM_Transform_Book") { $0.attributeMappings.removeAll { $0.name == "price" } }
    }
  }

  @Test("An attribute set to a constant")
  func constant() throws {
    try expect(["Tag.name: attribute not mapped, 4 rows"]) {
      try $0.edit("IEM_Transform_Tag") {
        $0.attributeMappings = [
          PropertyMapping("name", valueExpression: .constant(.string("a tag")))
        ]
      }
    }
  }

  @Test("A relationship mapped by neither side; one side is enough")
  func relationship() throws {
    try expect([]) { try $0.edit("IEM_Transform_Shelf") { $0.relationshipMappings = [] } }
    try expect(["Item.shelf: relationship not mapped, 4 rows"]) {
      try $0.edit("IEM_Transform_Shelf") { $0.relationshipMappings = [] }
      for name in ["IEM_Transform_Item", "IEM_Transform_Book"] {
        try $0.edit(name) { $0.relationshipMappings.removeAll { $0.name == "shelf" } }
      }
    }
  }

  @Test("Members created by another entity mapping than the one named")
  func otherSide() throws {
    try expect(["Item.shelf: members for which no entity mapping makes an object, 2 rows"]) {
      try $0.edit("IEM_Transform_Shelf") {
        $0.relationshipMappings = [
          PropertyMapping(
            "items", valueExpression: .destinationInstances(ofMapping: "IEM_Transform_Item", for: .source("items")))
        ]
      }
      for name in ["IEM_Transform_Item", "IEM_Transform_Book"] {
        try $0.edit(name) { $0.relationshipMappings.removeAll { $0.name == "shelf" } }
      }
    }
  }

  @Test("Values read by a policy count as kept, and so do values read by expressions")
  func kept() throws {
    final class KeepingPolicy: EntityMigrationPolicy {}
    try withShop { url, registry in
      let mapping = try mapping(registry) {
        try $0.edit("IEM_Transform_Tag") { $0.policyName = "KeepingPolicy" }
        try $0.edit("IEM_Transform_Tag") { $0.attributeMappings = [] }
        try $0.edit("IEM_Transform_Item") {
          $0.attributeMappings = [
            PropertyMapping(
              "name", valueExpression: .function(.add, [.source("price"), .source("name.length")]))
          ]
        }
      }
      let migrator = AutomaticMigrator(mappingModels: [mapping], policies: [KeepingPolicy.self])
      let plan = try MigrationPlan(storeAt: url, registry: registry, migrator: migrator)
      #expect(plan.losses == [])
    }
  }

  @Test("Losses in a later hop are refused before the store changes")
  func laterHop() throws {
    try withShop { url, registry in
      var description = try registry.version(named: "2").model.description
      description.entities[0].attributes.append(AttributeDescription("colour", .string))
      let last = ModelVersion(name: "3", model: try ManagedObjectModel(description))
      let versions = registry.versions + [last]
      var second = try MappingModel.inferred(from: versions[1].model, to: last.model)
      (second.sourceVersion, second.destinationVersion) = ("2", "3")
      try second.edit("IEM_Copy_Tag") { $0.attributeMappings = [] }
      let first = try mapping(registry) { _ in }
      let migrator = AutomaticMigrator(allowsLoss: false, mappingModels: [first, second])
      let before = try StoreSnapshot(url)
      let error = persistError {
        try migrator.migrate(storeAt: url, to: last, registry: ModelRegistry(versions: versions))
      }
      #expect(error?.message == "Tag.name: attribute not mapped, 4 rows would be lost.")
      try #expect(StoreSnapshot(url) == before)
    }
  }

  @Test("An expression for a derived attribute keeps nothing, because the attribute is computed")
  func derived() throws {
    func version(_ name: String, _ derivation: String?) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try model(
          EntityDescription(
            "Item", attributes: [.init("name", .string), .init("upper", .string, derivation: derivation)])))
    }
    let registry = ModelRegistry(versions: [try version("1", nil), try version("2", "uppercase:(name)")])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZUPPER) VALUES (1, 1, 1, 'tea', 'special')", at: url)
      let mapping = try mapping(registry) {
        try $0.edit("IEM_Transform_Item") {
          $0.attributeMappings = [
            PropertyMapping("name", valueExpression: .source("name")),
            PropertyMapping("upper", valueExpression: .source("upper")),
          ]
        }
      }
      let plan = try MigrationPlan(
        storeAt: url, registry: registry, migrator: AutomaticMigrator(mappingModels: [mapping]))
      #expect(plan.losses.map(\.description) == ["Item.upper: attribute not mapped, 1 row"])
    }
  }
}
