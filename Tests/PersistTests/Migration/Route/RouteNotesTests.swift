import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("A plan's notes on its route")
struct RouteNotesTests {
  private func text(_ name: String, was identifier: String? = nil, default value: StoredValue = .null)
    -> AttributeDescription
  {
    AttributeDescription(name, .string, default: value, renamingIdentifier: identifier)
  }

  private func version(_ name: String, _ attributes: AttributeDescription...) throws -> ModelVersion {
    ModelVersion(name: name, model: try model(EntityDescription("Item", attributes: attributes)))
  }

  @Test("Versions that differ only in renaming identifiers count as one; the plan notes the missing modifier")
  func missingModifier() throws {
    let registry = ModelRegistry(versions: [
      try version("1", text("x"), text("y")), try version("2", text("x", was: "y"), text("y", was: "x")),
    ])
    let plan = try MigrationPlan(from: registry.versions[0], to: registry.versions[1], registry: registry)
    #expect(plan.way == .none)
    #expect(!plan.steps.contains { $0.operation.kind == .renameAttribute })
    #expect(plan.notes.count == 1)
    #expect(plan.notes.first?.contains("Item.x, Item.y") == true)
    #expect(plan.notes.first?.contains("hash modifier") == true)
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 1, 1, 'x', 'y')", at: url)
      try #expect(MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry).notes == plan.notes)
      for version in registry.versions.reversed() {
        try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
        try #expect(MadeStore.rows("SELECT ZX, ZY FROM ZITEM", at: url) == [["x", "y"]])
      }
    }
    // A renaming to a free name is recognized by the stored structure.
    let renamed = ModelRegistry(versions: [try version("1", text("x")), try version("2", text("z", was: "x"))])
    try #expect(MigrationPlan(from: renamed.versions[0], to: renamed.versions[1], registry: renamed).notes == [])
  }

  @Test("Values with another origin on the route through the versions between are named")
  func divergence() throws {
    let registry = ModelRegistry(versions: [
      try version("1", text("a"), text("b"), text("note")),
      try version("2", text("a", was: "b"), text("b", was: "a"), text("new", default: .string("first"))),
      try version("3", text("a", was: "b"), text("b"), text("note"), text("new", default: .string("last"))),
    ])
    let notes = try MigrationPlan(from: registry.versions[0], to: registry.versions[2], registry: registry).notes
    #expect(notes.contains("Item.note keeps the values of 'note'; through '2' they would be lost."))
    #expect(notes.contains("Item.new is new and becomes 'last'; through '2' it would become 'first'."))
    try #expect(MigrationPlan(from: registry.versions[0], to: registry.versions[1], registry: registry).notes == [])
  }

  @Test("The plan in words lists each step under its hop, and shared advice once")
  func words() throws {
    let versions = [try version("1", text("a")), try version("2", text("b", was: "a")), try version("3", text("b"), text("c"))]
    let registry = ModelRegistry(versions: versions)
    var mapping = try MappingModel.inferred(from: versions[1].model, to: versions[2].model)
    (mapping.sourceVersion, mapping.destinationVersion) = ("2", "3")
    try withTemporaryStore { url in
      try MadeStore.make(versions[0].model, at: url)
      let plan = try MigrationPlan(
        storeAt: url, registry: registry, migrator: AutomaticMigrator(mappingModels: [mapping]))
      let lines = plan.description.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      let hops = lines.indices.filter { lines[$0].hasPrefix("hop ") }
      #expect(hops.map { lines[$0] } == ["hop 1 of 2, 1 → 2:", "hop 2 of 2, 2 → 3:"])
      let rename = try #require(lines.firstIndex { $0.hasPrefix("rename attribute") })
      let map = try #require(lines.firstIndex { $0.hasPrefix("map entity") })
      #expect(hops[0] < rename && rename < hops[1] && hops[1] < map)
    }
    var refused = MigrationPlan(from: "1", to: "2", way: .impossible)
    refused.blockers = ["One", "Two"].map { MigrationBlocker(what: "\($0).", fix: "Mend it.") }
    #expect(refused.description.split(separator: "\n").suffix(2) == ["  One.", "  Two. Mend it."])
  }

  @Test("Without inference, a hop needs a mapping model or a stage", arguments: [false, true])
  func noInference(copies: Bool) throws {
    let versions = [try version("1", text("a")), try version("2", text("a"), text("b"))]
    let registry = ModelRegistry(versions: versions)
    let migrator = AutomaticMigrator(alwaysCopies: copies, infersMapping: false)
    try withTemporaryStore { url in
      try MadeStore.make(versions[0].model, at: url)
      let before = try StoreSnapshot(url)
      let error = #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator(model: versions[1].model, registry: registry)
          .addStore(at: url, options: StoreOptions(migrator: migrator))
      }
      #expect(error?.code == .missingMappingModel)
      #expect(error?.code.rawValue == 134_140)
      let plan = try MigrationPlan(storeAt: url, registry: registry, migrator: migrator)
      #expect(plan.blockers.map(\.code) == [.missingMappingModel])
      try #expect(StoreSnapshot(url) == before)
      var mapped = migrator
      var mapping = try MappingModel.inferred(from: versions[0].model, to: versions[1].model)
      (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
      mapped.mappingModels = [mapping]
      try mapped.migrate(storeAt: url, to: versions[1], registry: registry)
      try #expect(migrator.migrate(storeAt: url, to: versions[1], registry: registry).way == .none)
    }
  }

  @Test("The error about another model contains the store's metadata; configurations are compared with them")
  func metadata() throws {
    let entities = ["A", "B", "C"].map { EntityDescription($0, attributes: [text("name")]) }
    func model(_ entities: [EntityDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(ModelDescription(entities: entities, configurations: ["Some": ["A", "B"]]))
    }
    var other = entities
    other[0].attributes.append(text("more"))
    let (old, new) = (try model(entities), try model(other))
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      let error = #expect(throws: PersistenceError.self) { try PersistentStoreCoordinator(model: new).addStore(at: url) }
      #expect(error?.code == .incompatibleModel)
      let metadata = try #require(error?.storeMetadata)
      try #expect(metadata.identifier == PersistentStoreCoordinator.metadata(at: url).identifier)
      #expect(old.isConfiguration("Some", compatibleWithStoreMetadata: metadata))
      #expect(old.isConfiguration(nil, compatibleWithStoreMetadata: metadata))
      #expect(!new.isConfiguration("Some", compatibleWithStoreMetadata: metadata))
      #expect(!new.isConfiguration(nil, compatibleWithStoreMetadata: metadata))
      #expect(!old.isConfiguration("Other", compatibleWithStoreMetadata: metadata))
      var part = metadata
      part.values["NSStoreModelVersionHashes"] = .dictionary(
        metadata.versionHashes.filter { $0.key != "C" }.mapValues { .data($0) })
      #expect(old.isConfiguration("Some", compatibleWithStoreMetadata: part))
      #expect(!old.isConfiguration(nil, compatibleWithStoreMetadata: part))
    }
  }
}
