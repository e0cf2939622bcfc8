import Foundation
import PersistTestSupport
import Testing

@testable import Persist

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
    #expect(sentences == ["Item.a: attribute removed, 2 rows would be lost."])
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
