import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Refused migrations")
struct MigrationRefusalTests {
  private func item(_ entity: EntityDescription) throws -> ManagedObjectModel { try model(entity) }

  /// Expects a refusal that changes no byte, and returns its sentences.
  private func refusal(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, filling: String, allowsLoss: Bool = true,
    code: PersistenceError.Code
  ) throws -> [String] {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try MadeStore.make(old, at: url)
      // As many real stores are: not in WAL mode.
      try MadeStore.run(filling, "PRAGMA journal_mode = DELETE", at: url)
      let registry = ModelRegistry(
        versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
      let connection = try SQLiteConnection(
        url, mode: .readWrite, options: StoreOptions(pragmas: ["journal_mode": "DELETE"]))
      connection.close()
      let before = try FolderSnapshot(folder)
      let error = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator(allowsLoss: allowsLoss).migrate(
          storeAt: url, to: registry.versions[1], registry: registry)
      }
      #expect(error?.code == code)
      let plan = try MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry)
      #expect(plan.isPossible == (code == .migrationFailed))
      try #expect(FolderSnapshot(folder) == before)
      return error.map { [$0.message] + $0.errors.map(\.message) } ?? []
    }
  }

  private func text(_ name: String, isOptional: Bool = true) -> AttributeDescription {
    AttributeDescription(name, .string, isOptional: isOptional)
  }

  private let rows = "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'x'), (3, 1, 1, NULL)"

  @Test("A required attribute without a default, if there are rows")
  func required() throws {
    let sentences = try refusal(
      item(EntityDescription("Item", attributes: [text("a")])),
      item(EntityDescription("Item", attributes: [text("a", isOptional: false), text("b", isOptional: false)])),
      filling: rows, code: .mappingNotInferable)
    #expect(
      sentences.dropFirst() == [
        "Rows of Item without a value for 'a', which is required and has no default: 1.",
        "Rows of Item without a value for 'b', which is required and has no default: 3.",
      ])
  }

  @Test("A uniqueness constraint violated by rows")
  func uniqueness() throws {
    let sentences = try refusal(
      item(EntityDescription("Item", attributes: [text("a")])),
      item(EntityDescription("Item", attributes: [text("a")], uniquenessConstraints: [["a"]])), filling: rows,
      code: .constraintConflict)
    #expect(sentences == ["Rows of Item with the same a as another, which must be unique: 1."])
  }

  @Test("Each of several uniqueness constraints whose indexes would have the same name, violated by rows")
  func equalNames() throws {
    let attributes = [text("a"), text("a_b"), text("b")]
    let index = FetchIndexDescription("UNIQUE_a_b", on: "b")
    let rows = """
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZA_B) VALUES (1, 1, 1, 'x', 'y', 'u'), (2, 1, 1, 'x', 'y', 'u')
      """
    for constraints in [[["a", "b"], ["a_b"]], [["a_b"], ["a", "b"]]] {
      let sentences = try refusal(
        item(EntityDescription("Item", attributes: attributes)),
        item(
          EntityDescription("Item", attributes: attributes, uniquenessConstraints: constraints, indexes: [index])),
        filling: rows, code: .constraintConflict)
      for name in ["a, b", "a_b"] {
        #expect(sentences.contains("Rows of Item with the same \(name) as another, which must be unique: 1."))
      }
    }
  }

  @Test("A uniqueness constraint violated by the default of an attribute that becomes required")
  func uniqueDefault() throws {
    func unique(_ attributes: AttributeDescription..., constraint: [String]) throws -> ManagedObjectModel {
      try item(EntityDescription("Item", attributes: attributes, uniquenessConstraints: [constraint]))
    }
    let required = AttributeDescription("a", .string, isOptional: false, default: .string("x"))
    let rows = "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, NULL), (3, 1, 1, NULL)"
    let sentences = try refusal(
      unique(text("a"), constraint: ["a"]), unique(required, constraint: ["a"]), filling: rows,
      code: .constraintConflict)
    #expect(sentences == ["Rows of Item with the same a as another, which must be unique: 2."])
    let pairs = """
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA, ZB)
      VALUES (1, 1, 1, 'x', '1'), (2, 1, 1, NULL, '1'), (3, 1, 1, NULL, '2')
      """
    #expect(
      try refusal(
        unique(text("a"), text("b"), constraint: ["a", "b"]), unique(required, text("b"), constraint: ["a", "b"]),
        filling: pairs, code: .constraintConflict)
        == ["Rows of Item with the same a, b as another, which must be unique: 1."])
  }

  @Test("An attribute type that can't represent every value")
  func type() throws {
    let sentences = try refusal(
      item(EntityDescription("Item", attributes: [text("a")])),
      item(EntityDescription("Item", attributes: [AttributeDescription("a", .int32)])), filling: rows,
      code: .mappingNotInferable)
    #expect(sentences == ["Not every string value of Item.a has an exact equivalent as int32."])
  }

  @Test("Loss, unless it is allowed")
  func loss() throws {
    let sentences = try refusal(
      item(EntityDescription("Item", attributes: [text("a")])), item(EntityDescription("Item")), filling: rows,
      allowsLoss: false, code: .migrationFailed)
    #expect(sentences == ["Item.a: attribute removed, 2 rows: the new model has no place for these values."])
  }

  @Test("Losses and obstacles of an inferred hop after a mapping model, in place and copied", arguments: [false, true])
  func laterHop(copies: Bool) throws {
    func version(_ name: String, _ attributes: [String], _ tags: RelationshipDescription) throws -> ModelVersion {
      let item = EntityDescription("Item", attributes: attributes.map { text($0) }, relationships: [tags])
      return ModelVersion(name: name, model: try model(item, EntityDescription("Tag")))
    }
    let many = RelationshipDescription("tags", toMany: "Tag")
    let (first, second) = (try version("1", ["a"], many), try version("2", ["a", "b"], many))
    let cases = try [
      (version("3", ["b"], many), "Item.a: attribute removed"),
      (version("3", ["a", "b"], RelationshipDescription("tags", to: "Tag")), "Objects with several related objects"),
    ]
    for (third, words) in cases {
      let registry = ModelRegistry(versions: [first, second, third])
      var mapping = try MappingModel.inferred(from: first.model, to: second.model)
      (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
      let migrator = AutomaticMigrator(allowsLoss: false, mappingModels: [mapping], alwaysCopies: copies)
      try withTemporaryStore { url in
        let coordinator = PersistentStoreCoordinator(model: first.model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        let item = try context.make("Item", ["a": "x"])
        item["tags"] = [try context.make("Tag"), try context.make("Tag")]
        try context.save()
        try coordinator.remove(store)
        let before = try StoreDump(of: first.model, at: url)
        let error = persistError { try migrator.migrate(storeAt: url, to: third, registry: registry) }
        let messages = error.map { [$0.message] + $0.errors.map(\.message) } ?? []
        #expect(messages.contains { $0.hasPrefix(words) }, "\(messages)")
        #expect(error?.place.key == "'2' to '3'")
        try #expect(StoreDump(of: first.model, at: url).differences(from: before) == [])
      }
    }
  }

  @Test("A stage's changes are checked before the first hop is copied")
  func changedByStage() throws {
    let (old, new) = (
      try item(EntityDescription("Item", attributes: [text("a"), text("b")])),
      try item(EntityDescription("Item", attributes: [text("a")]))
    )
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    let stage = StagedMigration.Stage.custom(
      from: registry.versions[0], to: registry.versions[1],
      willMigrate: { context in
        for object in try context.fetch(FetchRequest("Item")) { object["b"] = "new" }
      })
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      try MadeStore.run(rows, at: url)
      let migrator = try AutomaticMigrator(allowsLoss: false, staged: StagedMigration([stage]), alwaysCopies: true)
      let error = persistError { try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry) }
      #expect(error?.message == "Item.b: attribute removed, 3 rows: the new model has no place for these values.")
    }
  }

  @Test("Rows of no entity that would become an added one's or be dropped with their table", arguments: [false, true])
  func unknownRows(isRemoved: Bool) throws {
    let (first, second) = (EntityDescription("A"), EntityDescription("B"))
    let sentences = try refusal(
      model(first, second), isRemoved ? model(first) : model(first, second, EntityDescription("C", parent: "B")),
      filling: "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 3, 1)", code: .mappingNotInferable)
    #expect(sentences == ["Rows of 'ZB' with an entity number of none of the table's entities: 1."])
  }

  @Test("A model that has nothing in common with the store")
  func stranger() throws {
    try withTemporaryStore { url in
      try MadeStore.make(try model(EntityDescription("Item")), at: url)
      let other = ModelRegistry(versions: [ModelVersion(name: "other", model: try model(EntityDescription("Song")))])
      let error = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator().migrate(storeAt: url, to: other.currentVersion, registry: other)
      }
      #expect(error?.code == .incompatibleModel)
    }
  }

  @Test("Returning to a former version of the store, if that would lose values")
  func back() throws {
    let old = try item(EntityDescription("Item"))
    let new = try item(EntityDescription("Item", attributes: [text("a")]))
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    for (rows, isPossible) in [("UPDATE ZITEM SET ZA = NULL", true), (rows, false)] {
      try withTemporaryStore { url in
        try MadeStore.make(old, at: url)
        try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
        try MadeStore.run(rows, at: url)
        let plan = try MigrationPlan(storeAt: url, to: registry.versions[0], registry: registry)
        #expect(plan.isPossible == isPossible)
        let refused = #expect(throws: PersistenceError.self) {
          try AutomaticMigrator(downgrade: .refused).migrate(
            storeAt: url, to: registry.versions[0], registry: registry)
        }
        #expect(refused?.code == .newerStore)
        #expect(refused?.fix?.contains(isPossible ? ".withoutLoss" : ".withLoss") == true)
        let migrate = {
          try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[0], registry: registry)
        }
        if isPossible {
          #expect(try migrate().to == "1")
        } else {
          #expect(throws: PersistenceError.self) { try migrate() }
        }
      }
    }
  }

  @Test("Adding a required attribute to an entity without rows is possible")
  func noRows() throws {
    try withTemporaryStore { url in
      let registry = ModelRegistry(
        versions: [
          ModelVersion(name: "1", model: try item(EntityDescription("Item"))),
          ModelVersion(
            name: "2", model: try item(EntityDescription("Item", attributes: [text("a", isOptional: false)]))),
        ])
      try MadeStore.make(registry.versions[0].model, at: url)
      for way in [MigrationWay.inPlace, .none] {
        let report = try AutomaticMigrator().migrate(
          storeAt: url, to: registry.currentVersion, registry: registry)
        #expect(report.way == way)
      }
    }
  }
}
