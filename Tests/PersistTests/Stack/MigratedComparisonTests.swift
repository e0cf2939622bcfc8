import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("The comparison of a store with a migrated copy")
struct MigratedComparisonTests {
  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription(
            "Item", attributes: [AttributeDescription("name", .string)] + attributes,
            relationships: [
              RelationshipDescription("boxes", toMany: "Box", inverse: "items"),
              RelationshipDescription("next", to: "Item"),
            ]),
          EntityDescription(
            "Box", attributes: [AttributeDescription("label", .string)],
            relationships: [RelationshipDescription("items", toMany: "Item", inverse: "boxes", isOrdered: true)]),
        ]))
  }

  private func registry() throws -> ModelRegistry {
    let old = try Self.model([.init("count", .int32), .init("colour", .string), .init("gone", .string)])
    let new = try Self.model([
      .init("count", .decimal), .init("color", .string, renamingIdentifier: "colour"),
      .init("added", .string, default: .string("new")),
    ])
    return ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
  }

  /// Copies a store and migrates the copy.
  ///
  /// - Returns: The error of a migration that isn't possible.
  private func migrate(_ url: URL, to copy: URL, _ registry: ModelRegistry) throws -> PersistenceError? {
    try StoreCopies.replaceStore(at: StoreLocation(copy), with: StoreLocation(url))
    do {
      try AutomaticMigrator(allowsLoss: true).migrate(storeAt: copy, to: registry.versions[1], registry: registry)
      return nil
    } catch let error as PersistenceError {
      return error
    }
  }

  private func compare(_ url: URL, _ copy: URL, _ registry: ModelRegistry) throws -> MigratedComparison.Outcome {
    try MigratedComparison(
      of: StoreContents(readingStoreAt: url, registry: registry),
      with: StoreContents(readingStoreAt: copy, registry: registry), to: registry.versions[1], registry: registry
    ).run()
  }

  @Test("Everything kept is the same; a change is found with its property, both values and the object")
  func differences() throws {
    try withTemporaryStore { url in
      let registry = try registry()
      try MadeStore.make(registry.versions[0].model, at: url)
      for number in 1...250 {
        try MadeStore.run(
          """
          INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOUNT, ZCOLOUR, ZGONE, ZNEXT) \
          VALUES (\(number), 2, 1, 'n\(number)', \(number), 'c\(number)', 'g', \(number % 250 + 1))
          """, at: url)
      }
      try MadeStore.run("UPDATE Z_PRIMARYKEY SET Z_MAX = 250 WHERE Z_NAME = 'Item'", at: url)
      let copy = otherStore("copy", beside: url)
      try #require(migrate(url, to: copy, registry) == nil)
      let same = try compare(url, copy, registry)
      #expect(same.isSame && same.objects == 250)
      // Name, count, color, boxes and next.
      #expect(same.values == 250 * 5)
      try MadeStore.run(
        "UPDATE ZITEM SET ZCOLOR = 'other' WHERE Z_PK = 7", "DELETE FROM ZITEM WHERE Z_PK = 9",
        "UPDATE ZITEM SET ZNEXT = NULL WHERE Z_PK = 11", "UPDATE ZITEM SET ZADDED = 'x'", at: copy)
      let outcome = try compare(url, copy, registry)
      #expect(!outcome.isSame)
      #expect(outcome.missing.map(\.entity) == ["Item"] && outcome.missing.map(\.count) == [1])
      let different = outcome.properties.filter { $0.different > 0 }
      #expect(different.map { "\($0.property) \($0.newProperty) \($0.equal) \($0.different)" }.sorted() == [
        "colour color 248 1", "next next 248 1",
      ])
      #expect(different.flatMap { $0.examples.map(\.key) }.sorted() == [7, 11])
    }
  }

  @Test("A store with two objects of one key is damaged", .aboutFiles("rows with the same key"))
  func sameKeys() throws {
    try withTemporaryStore { url in
      let registry = try registry()
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 2, 1, 'b')", at: url)
      let migrated = otherStore("migrated", beside: url)
      try #require(migrate(url, to: migrated, registry) == nil)
      // As a damaged index returns them.
      let definition = try MadeStore.rows("SELECT sql FROM sqlite_master WHERE name = 'ZITEM'", at: url)[0][0]
      try MadeStore.run(
        definition.replacing("ZITEM", with: "TWICE", maxReplacements: 1).replacing(" PRIMARY KEY", with: ""),
        "INSERT INTO TWICE SELECT * FROM ZITEM UNION ALL SELECT * FROM ZITEM", "DROP TABLE ZITEM",
        "ALTER TABLE TWICE RENAME TO ZITEM", at: url)
      let error = #expect(throws: PersistenceError.self) {
        try VerifiedCopy(of: url, to: otherStore("copy", beside: url), registry: registry).run()
      }
      #expect(error?.code == .storeDamaged)
      #expect(error?.place.entity == "Item")
      #expect(#expect(throws: PersistenceError.self) { try compare(url, migrated, registry) }?.code == .storeDamaged)
    }
  }

  @Test("A copy doesn't replace a store that was created at its place meanwhile, unless it may")
  func createdMeanwhile() throws {
    try withTemporaryStore { url in
      let model = try registry().versions[0].model
      try MadeStore.make(model, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a')", at: url)
      let place = otherStore("copy", beside: url)
      var isMade = false
      let copy = VerifiedCopy(of: url, to: place) { work, _, _ in
        guard work == .comparing, !isMade else { return }
        isMade = true
        try MadeStore.make(model, at: place)
      }
      try #expect(!copy.isDestinationTaken())
      #expect(#expect(throws: PersistenceError.self) { try copy.run() }?.code == .fileAccess)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: place) == [["0"]])
      try #expect(VerifiedCopy(of: url, to: place, replacing: true).run().objects == 1)
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: place) == [["1"]])
    }
  }

  @Test("A store isn't copied to memory, where nothing would remain of it")
  func memory() throws {
    try withTemporaryStore { url in
      try MadeStore.make(registry().versions[0].model, at: url)
      let error = #expect(throws: PersistenceError.self) {
        try VerifiedCopy(of: url, to: URL(fileURLWithPath: "/dev/null"), replacing: true).run()
      }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test("Whatever changes, a migration keeps what is compared", arguments: 1...25)
  func anyModel(seed: UInt64) throws {
    var models = RandomModels(seed: seed)
    let old = try models.model()
    for _ in 0..<3 { models.change() }
    let registry = ModelRegistry(
      versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: try models.model())])
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      try MadeStore.fill(old, at: url, rows: 8, seed: seed)
      let copy = otherStore("copy", beside: url)
      // Not every pair of models has a way.
      guard try migrate(url, to: copy, registry) == nil else { return }
      let outcome = try compare(url, copy, registry)
      let different = outcome.properties.filter { $0.different > 0 }
      let losses = try MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry).losses
      let lost = Set(losses.map { "\($0.entity).\($0.property ?? "")" })
      for result in different where !lost.contains("\(result.entity).\(result.property)") {
        // Members that the losses name by their inverse.
        let isRelationship = old.entitiesByName[result.entity]?.relationship(named: result.property) != nil
        #expect(isRelationship && !losses.isEmpty, "seed \(seed): \(result), losses \(losses)")
      }
      #expect(outcome.missing.isEmpty, "seed \(seed)")
    }
  }
}
