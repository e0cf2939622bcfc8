import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Fingerprints")
struct FingerprintTests {
  private static func shop(
    item change: (inout EntityDescription) -> Void = { _ in }, model further: [EntityDescription] = []
  ) throws -> [String: Fingerprint] {
    var item = EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("name", .string, isOptional: false), AttributeDescription("quantity", .int32),
        AttributeDescription("photo", .binary, allowsExternalStorage: true),
      ], relationships: [RelationshipDescription("category", to: "Category", inverse: "items")],
      uniquenessConstraints: [["name"]])
    change(&item)
    let category = EntityDescription(
      "Category", isAbstract: true,
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category", isOrdered: true)])
    return try ManagedObjectModel(ModelDescription(entities: [item, category] + further)).fingerprints
  }

  @Test("Fingerprints have these values on every platform and in every run")
  func literal() throws {
    let found = try Self.shop(model: [EntityDescription("Special", parent: "Item", versionHashModifier: "é\n")])
    #expect(found["Item"]?.description == "7fe7faca293c6bb37d15148222a3fc00d2e5b19c7e7cd9ee2e6329582dd5dc9c")
    #expect(found["Category"]?.description == "c6e02da7a735f93515ed8f77de20e75cd2f22595aee6b52adb14604eef3740aa")
    #expect(found["Special"]?.description == "bf9eea37d99e628ac4a2cb736747ec546ebc803a1d85c7a4772424708ba90e46")
  }

  @Test("A fingerprint is the digest of a text that describes what affects storage")
  func canonicalText() {
    let entity = EntityDescription(
      "Category", isAbstract: true, versionHashModifier: "\"",
      attributes: [
        AttributeDescription("place", .composite, compositeName: "P"),
        AttributeDescription("count", .int64, derivation: "items.@count"),
      ], relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category", isOrdered: true)],
      uniquenessConstraints: [["place", "count"]])
    let composite = CompositeDescription("P", elements: [AttributeDescription("x", .double, isOptional: false)])
    #expect(
      CanonicalText(entity, parent: nil, composites: ["P": composite]).text == """
        entity 1
        name "Category"
        abstract
        modifier "\\\""
        unique "count" "place"
        attribute "count" int64 optional derived "items.@count"
        attribute "place" composite optional
        attribute "place" "x" double
        relationship "items" "Item" inverse "category" many ordered optional

        """)
  }

  @Test("A change that affects storage changes the fingerprint of the entity and no other")
  func affecting() throws {
    let before = try Self.shop()
    let changes: [(inout EntityDescription) -> Void] = [
      { $0.attributes[0].isOptional = true }, { $0.attributes[1].type = .int64 },
      {
        $0.attributes[0].name = "title"
        $0.uniquenessConstraints = [["title"]]
      },
      { $0.attributes[2].allowsExternalStorage = false }, { $0.attributes[1].isTransient = true },
      { $0.attributes[1].derivation = "category.items.@count" }, { $0.attributes[1].preservesValueOnDeletion = true },
      { $0.attributes[1].versionHashModifier = "2" }, { $0.attributes.append(AttributeDescription("x", .date)) },
      { $0.relationships[0].isOptional = false }, { $0.relationships[0].maximumCount = 0 },
      { $0.relationships[0].versionHashModifier = "2" },
      { $0.relationships.append(RelationshipDescription("next", to: "Item", inverse: nil)) },
      { $0.isAbstract = true }, { $0.uniquenessConstraints = [] },
      { $0.uniquenessConstraints = [["name", "quantity"]] },
      { $0.versionHashModifier = "2" },
    ]
    for (index, change) in changes.enumerated() {
      let after = try Self.shop(item: change)
      #expect(after["Item"] != before["Item"], "change \(index)")
      #expect(after["Category"] == before["Category"], "change \(index)")
    }
  }

  @Test("Changes that don't affect storage don't affect fingerprints")
  func indifferent() throws {
    let before = try Self.shop()
    let changes: [(inout EntityDescription) -> Void] = [
      { $0.attributes[0].defaultValue = .string("x") }, { $0.userInfo = ["a": "b"] }, { $0.className = "Thing" },
      { $0.attributes[0].userInfo = ["a": "b"] }, { $0.attributes[0].validation.maximumLength = 5 },
      { $0.indexes = [FetchIndexDescription("i", on: "name")] }, { $0.attributes[0].isIndexed = true },
      { $0.compoundIndexes = [["name"]] }, { $0.renamingIdentifier = "Thing" },
      { $0.attributes[0].renamingIdentifier = "title" }, { $0.attributes[0].valueTransformerName = "T" },
      { $0.attributes[0].usesScalarType = true }, { $0.relationships[0].deleteRule = .cascade },
      { $0.relationships[0].minimumCount = 1 }, { $0.attributes.reverse() }, { $0.unknown = ["a": "b"] },
      { $0.attributes.append(AttributeDescription("cached", .string, isTransient: true)) },
      { $0.uniquenessConstraints = [["name"], ["name"]] },
    ]
    for (index, change) in changes.enumerated() {
      #expect(try Self.shop(item: change) == before, "change \(index)")
    }
  }

  @Test("A subentity's change doesn't affect its parent; a parent's affects its subentities")
  func inheritance() throws {
    func shop(special: [AttributeDescription], item: (inout EntityDescription) -> Void = { _ in }) throws
      -> [String: Fingerprint]
    {
      try Self.shop(item: item, model: [EntityDescription("Special", parent: "Item", attributes: special)])
    }
    let before = try shop(special: [])
    let below = try shop(special: [AttributeDescription("x", .string)])
    #expect(below["Item"] == before["Item"])
    #expect(below["Special"] != before["Special"])
    let above = try shop(special: []) { $0.attributes[0].isOptional = true }
    #expect(above["Special"] != before["Special"])
  }

  @Test("A composite type's elements affect the fingerprint")
  func composites() throws {
    func fingerprint(_ type: AttributeType) throws -> Fingerprint? {
      try ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription("E", attributes: [AttributeDescription("place", .composite, compositeName: "P")])
          ],
          composites: [CompositeDescription("P", elements: [AttributeDescription("x", type)])])
      ).fingerprints["E"]
    }
    #expect(try fingerprint(.double) == fingerprint(.double))
    #expect(try fingerprint(.double) != fingerprint(.float))
  }

  @Test("Two tables are compared in words")
  func words() throws {
    let (one, two) = (Data([1]), Data([2]))
    #expect(
      Fingerprint.differences(stored: ["A": one, "B": one, "D": one], model: ["A": one, "B": two, "C": one]) == [
        "'B' differs.", "The model has 'C'; the store doesn't.", "The store has 'D'; the model doesn't.",
      ])
  }

  @Test("Equal entities of neighboring real versions have equal fingerprints, others don't", .needsSharedData)
  func realModels() throws {
    let folders = Dictionary(grouping: SharedData.modelContents) {
      $0.deletingLastPathComponent().deletingLastPathComponent()
    }
    for versions in folders.values {
      let tables = try versions.map { try ManagedObjectModel(XMLModelReader.model(at: $0)).fingerprints }
      #expect(tables.allSatisfy { !$0.isEmpty })
    }
    let cars = try ["SampleModel", "SampleModel2"].map {
      try ManagedObjectModel(
        XMLModelReader.model(at: SharedData.url("cars/SampleModel.xcdatamodeld/\($0).xcdatamodel")).description
      ).fingerprints
    }
    #expect(cars[0]["Car"] != cars[1]["Car"])
  }
}
