import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// The ways around differences that can't be served.
@Suite("Refusals of online migrations", .needsServer)
struct OnlineRefusalTests {
  private func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
    ModelVersion(
      name: name, model: try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: [name])))
  }

  private func migrate(_ url: URL, to version: ModelVersion) throws {
    let migration = OnlineMigration(storeAt: url)
    try migration.expand(to: version)
    try migration.backfill()
    try migration.contract()
  }

  @Test("Required properties that the new model lacks are made optional first, as their refusals say")
  func requiredBefore() throws {
    func shop(_ name: String, isThere: Bool, isOptional: Bool) throws -> ModelVersion {
      try version(
        name,
        EntityDescription(
          "Item",
          attributes: [AttributeDescription("name", .string)]
            + (isThere ? [AttributeDescription("code", .string, isOptional: isOptional)] : []),
          relationships: isThere
            ? [RelationshipDescription("box", to: "Box", inverse: "items", isOptional: isOptional)] : []),
        EntityDescription(
          "Box",
          relationships: isThere ? [RelationshipDescription("items", toMany: "Item", inverse: "box")] : []))
    }
    let versions = try [
      shop("1", isThere: true, isOptional: false), shop("2", isThere: true, isOptional: true),
      shop("3", isThere: false, isOptional: true),
    ]
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions[0], url)
      try first.insert("Item", ["name": "Tea", "code": "t"])["box"] = first.insert("Box")
      try first.save()
      try first.close()
      let plan = try OnlineMigration(storeAt: url).plan(to: versions[2])
      #expect(Set(plan.refusals.map(\.property)) == ["code", "box"])
      #expect(Set(plan.refusals.compactMap(\.operation?.kind)) == [.removeAttribute, .removeRelationship], "\(plan)")
      for refusal in plan.refusals { #expect(refusal.fix.hasPrefix("Make it optional in a version between the two")) }
      for version in versions.dropFirst() { try migrate(url, to: version) }
      let last = try OnlineProgram(versions[2], url)
      try #expect(last.values("Item", "name") == ["Tea"])
      try last.close()
    }
  }

  private func animals(_ name: String, isAbstract: Bool) throws -> ModelVersion {
    var animal = EntityDescription(
      "Animal", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("owner", to: "Person", inverse: "animals")])
    animal.isAbstract = isAbstract
    return try version(
      name, animal, EntityDescription("Cat", parent: "Animal", attributes: [AttributeDescription("lives", .int64)]),
      EntityDescription(
        "Person", relationships: [RelationshipDescription("animals", toMany: "Animal", inverse: "owner")]))
  }

  @Test("An entity becomes abstract while programs with both models run, once it has no objects of its own")
  func becomesAbstract() throws {
    let versions = (try animals("1", isAbstract: false), try animals("2", isAbstract: true))
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.0, url)
      let (animal, cat, owner) = try (first.insert("Animal"), first.insert("Cat"), first.insert("Person"))
      (animal["name"], cat["name"], animal["owner"], cat["owner"]) = ("Rex", "Tom", owner, owner)
      try first.save()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.1)
      try migration.backfill()
      let second = try OnlineProgram(versions.1, url)
      // New programs find the others as objects of the abstract entity.
      try #expect(second.values("Animal", "name") == ["Rex", "Tom"])
      try #expect(OnlineProgram.keys(second.all("Person")[0]["animals"]).count == 2)
      try second.insert("Cat", ["name": "Kit"])
      try #require(second.all("Animal").first { $0["name"] as? String == "Rex" })["name"] = "Max"
      try second.save()
      try #expect(first.values("Animal", "name") == ["Kit", "Max", "Tom"])
      try first.insert("Animal", ["name": "Bob"])
      try first.save()
      try first.close()
      let error = #expect(throws: PersistenceError.self) { try migration.contract() }
      #expect(error?.code == .migrationFailed && error?.message.contains("2 objects are of no subentity") == true)
      for object in try second.all("Animal") where ["Max", "Bob"].contains(object["name"] as? String) {
        second.context.delete(object)
      }
      try second.save()
      try migration.contract()
      try #expect(second.values("Animal", "name") == ["Kit", "Tom"])
      try second.close()
      try expectIntact(url)
    }
  }

  @Test("An entity that would become abstract is as before if the migration is abandoned")
  func remainsConcrete() throws {
    let versions = (try animals("1", isAbstract: false), try animals("2", isAbstract: true))
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.0, url)
      try first.insert("Animal", ["name": "Rex"])
      try first.save()
      let before = try first.dump()
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.1)
      try migration.backfill()
      try migration.abort()
      try #expect(first.dump() == before)
      try first.close()
      try expectIntact(url)
    }
  }

  @Test("An abstract entity doesn't become concrete, and the refusal says what does")
  func becomesConcrete() throws {
    let versions = (try animals("1", isAbstract: true), try animals("2", isAbstract: false))
    try OnlineShop.withStore { url in
      try OnlineProgram(versions.0, url).close()
      let plan = try OnlineMigration(storeAt: url).plan(to: versions.1)
      #expect(plan.refusals.map(\.operation?.kind) == [.changeAbstract], "\(plan)")
      #expect(plan.refusals.first?.fix.contains("add a subentity") == true)
    }
  }

  private func expectIntact(_ url: URL) throws {
    var problems: [StoreProblem] = []
    try StoreLocation(url).check { problems.append($0) }
    #expect(problems.isEmpty, "\(problems)")
  }
}
