import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Models with flaws")
struct ModelFlawTests {
  /// Mistakes that Core Data accepts, all in one model.
  private static let description = ModelDescription(
    entities: [
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("name", .string, validation: AttributeValidation(pattern: "(")),
          AttributeDescription("size", .int16, default: .string("big")),
          AttributeDescription(
            "count", .int32, validation: AttributeValidation(minimum: .integer(9), maximum: .integer(1))),
          AttributeDescription("anything", .undefined),
          AttributeDescription("place", .composite, compositeName: "Nowhere"),
        ],
        relationships: [
          RelationshipDescription("owner", to: "Owner", inverse: nil),
          RelationshipDescription(name: "parts", destination: "Item", inverse: nil, minimumCount: -2, maximumCount: -1),
        ],
        uniquenessConstraints: [["name"], ["name", "gone"], []],
        indexes: [
          FetchIndexDescription("byGone", on: "gone"), FetchIndexDescription("byName", on: "name"),
          FetchIndexDescription("byName", on: "size"),
        ], compoundIndexes: [["name", "parts"]]),
      EntityDescription("Special", parent: "Item", attributes: [AttributeDescription("name", .string)]),
      EntityDescription(
        "Owner",
        relationships: [
          RelationshipDescription("items", toMany: "Item", inverse: "owner"),
          RelationshipDescription("favourites", toMany: "Item", inverse: "gone"),
          RelationshipDescription("oddments", toMany: "Item", inverse: "name"),
        ]),
    ], configurations: ["Part": ["Item", "Gone"]],
    fetchRequestTemplates: ["lost": FetchRequestDescription(entity: "Gone")])

  @Test("A model written by a developer must be entirely valid; in one accepted by Core Data, the rest are flaws")
  func flaws() throws {
    let error = #expect(throws: PersistenceError.self) { try ManagedObjectModel(Self.description) }
    let model = try ManagedObjectModel(withFlaws: Self.description)
    #expect(model.flaws.count == 17)
    #expect(Set(model.flaws.map(\.message)) == Set(error?.errors.map(\.message) ?? []))
    #expect(model.flaws.allSatisfy { $0.code == .invalidModel && $0.fix != nil && $0.place != .unknown })
  }

  @Test("Unresolvable parts are omitted, and a model without them is valid")
  func mended() throws {
    let model = try ManagedObjectModel(withFlaws: Self.description)
    let item = try model.entity(named: "Item")
    #expect(item.description.uniquenessConstraints == [["name"]])
    #expect(item.description.indexes == [FetchIndexDescription("byName", on: "name")])
    #expect(item.description.compoundIndexes.isEmpty)
    #expect(item.attribute(named: "size")?.defaultValue == .null)
    #expect(item.attribute(named: "name")?.validation.pattern == nil)
    #expect(item.attribute(named: "anything")?.isTransient == true)
    #expect(item.attribute(named: "count")?.validation.maximum == .integer(1))
    #expect(item.relationship(named: "parts")?.minimumCount == 0)
    #expect(try model.entity(named: "Special").property(named: "name")?.declaringEntity == "Item")
    let again = try ManagedObjectModel(withFlaws: model.description)
    #expect(again.description == model.description)
    #expect(again.fingerprints == model.fingerprints)
  }

  @Test("An inverse named by one side applies to both; one that can't be paired is none")
  func inverses() throws {
    let model = try ManagedObjectModel(withFlaws: Self.description)
    let (item, owner) = (try model.entity(named: "Item"), try model.entity(named: "Owner"))
    #expect(item.relationship(named: "owner")?.inverse == "items")
    #expect(owner.relationship(named: "items")?.inverse == "owner")
    #expect(owner.relationship(named: "favourites")?.inverse == nil)
    #expect(owner.relationship(named: "oddments")?.inverse == nil)

    func relationship(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
      RelationshipDescription(name, to: destination, inverse: inverse)
    }
    // X.p is paired with B.r, so the other relationships that name it have no inverse.
    let chain = try ManagedObjectModel(
      withFlaws: ModelDescription(entities: [
        EntityDescription("A", relationships: [relationship("r", "X", "p"), relationship("q", "X", "p")]),
        EntityDescription("B", relationships: [relationship("r", "X", "p")]),
        EntityDescription("X", relationships: [relationship("p", "B", "r")]),
      ]))
    let inverses = chain.entities.flatMap { entity in
      entity.relationships.map { "\(entity.name).\($0.name) \($0.inverse ?? "-")" }
    }
    #expect(inverses == ["A.q -", "A.r -", "B.r p", "X.p r"])
  }

  @Test("A problem that prevents a model from being resolved is still an error", arguments: [
    ModelDescription(entities: [EntityDescription("A", parent: "Gone")]),
    ModelDescription(entities: [EntityDescription("A", parent: "A")]),
    ModelDescription(entities: [EntityDescription("A"), EntityDescription("A")]),
    ModelDescription(entities: [EntityDescription("")]),
    ModelDescription(entities: [
      EntityDescription("A", relationships: [RelationshipDescription("r", to: "Gone")])
    ]),
    ModelDescription(entities: [
      EntityDescription("A", attributes: [AttributeDescription("x", .int16), AttributeDescription("x", .string)])
    ]),
    ModelDescription(entities: [
      EntityDescription("A", attributes: [AttributeDescription("x", .int16)]),
      EntityDescription("B", parent: "A", attributes: [AttributeDescription("x", .string)]),
    ]),
  ])
  func errors(_ description: ModelDescription) {
    let error = #expect(throws: PersistenceError.self) { try ManagedObjectModel(withFlaws: description) }
    #expect(error?.code == .invalidModel)
  }

  @Test("A store of such a model is created, written, read and compared")
  func store() throws {
    let model = try ManagedObjectModel(withFlaws: Self.description)
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let owner = try context.create("Owner")
      let special = try context.create("Special")
      special["name"] = "a"
      special["size"] = 3
      special["owner"] = owner
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }

      let found = try StoreIdentification.identify(storeAt: url)
      #expect(found.model.fingerprints == model.fingerprints)
      #expect(found.tableMap.differences == [] && found.tableMap.unexplained == [])
      let contents = try StoreContents(readingStoreAt: url, registry: nil)
      #expect(try contents.count(of: contents.model.entity(named: "Special")) == 1)
      try contents.forEachObject(of: contents.model.entity(named: "Owner")) { object in
        let items = try #require(object.entity.property(named: "items"))
        #expect(try object.members(of: items).map(\.entityName) == ["Special"])
      }
      try checkStore(at: url, registry: nil) { Issue.record("\($0)") }
      #expect(ModelDifference.between(store: found.model, model: model).isEmpty)
      #expect(try ModelComparison(from: model, to: model).operations.isEmpty)
    }
  }
}
