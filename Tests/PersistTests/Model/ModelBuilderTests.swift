import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("A model in code")
struct ModelBuilderTests {
  @Test("Parts in braces make the same model as lists")
  func parts() throws {
    let withSizes = true
    let built = try ManagedObjectModel(version: "2") {
      EntityDescription("Item", renamingIdentifier: "Thing", uniquenessConstraints: [["name"]]) {
        AttributeDescription("name", .string, isOptional: false, default: "New Item")
        for number in 1...2 { AttributeDescription("size\(number)", .int32, default: 5) }
        if withSizes { AttributeDescription("weight", .double, default: 1.5) }
        AttributeDescription("place", .composite, compositeName: "Place")
        AttributeDescription("isNew", .boolean, default: true)
        RelationshipDescription("category", to: "Category", inverse: "items")
        FetchedPropertyDescription("others", request: FetchRequestDescription(entity: "Item"))
        FetchIndexDescription("byName", on: "name")
      }
      EntityDescription("Category") { RelationshipDescription("items", toMany: "Item", inverse: "category") }
      CompositeDescription("Place", elements: [AttributeDescription("x", .double)])
    }
    let listed = ModelDescription(
      entities: [
        EntityDescription(
          "Item", renamingIdentifier: "Thing",
          attributes: [
            AttributeDescription("name", .string, isOptional: false, default: .string("New Item")),
            AttributeDescription("size1", .int32, default: .integer(5)),
            AttributeDescription("size2", .int32, default: .integer(5)),
            AttributeDescription("weight", .double, default: .double(1.5)),
            AttributeDescription("place", .composite, compositeName: "Place"),
            AttributeDescription("isNew", .boolean, default: .boolean(true)),
          ], relationships: [RelationshipDescription("category", to: "Category", inverse: "items")],
          fetchedProperties: [FetchedPropertyDescription("others", request: FetchRequestDescription(entity: "Item"))],
          uniquenessConstraints: [["name"]], indexes: [FetchIndexDescription("byName", on: "name")]),
        EntityDescription(
          "Category", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category")]),
      ], composites: [CompositeDescription("Place", elements: [AttributeDescription("x", .double)])],
      versionIdentifiers: ["2"])
    #expect(built.description == listed)
  }

  @Test("An inverse is named on one side and known on both, even if a parent declares it")
  func inverses() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Base") { RelationshipDescription("owner", to: "Person") }
      EntityDescription("Special", parent: "Base") {}
      EntityDescription("Person") {
        RelationshipDescription("things", toMany: "Special", inverse: "owner")
        RelationshipDescription("friends", toMany: "Person", inverse: "friends")
        RelationshipDescription("alone", to: "Person")
      }
    }
    #expect(try model.entity(named: "Base").relationship(named: "owner")?.inverse == "things")
    #expect(try model.entity(named: "Person").relationship(named: "alone")?.inverse == nil)
  }

  @Test("A relationship claimed as the inverse by two others is reported, not guessed")
  func ambiguous() {
    let error = #expect(throws: PersistenceError.self) {
      try ManagedObjectModel {
        EntityDescription("A") {
          RelationshipDescription("r", to: "B", inverse: "back")
          RelationshipDescription("s", to: "B", inverse: "back")
        }
        EntityDescription("B") { RelationshipDescription("back", to: "A") }
      }
    }
    #expect(error?.errors.count == 2)
  }

  @Test("Entities are numbered as in Core Data, and know their inherited properties")
  func hierarchy() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Zebra", parent: "Animal") { AttributeDescription("stripes", .int16) }
      EntityDescription("Animal") { AttributeDescription("name", .string) }
      EntityDescription("Ant", parent: "Animal") {}
      EntityDescription("Bee", parent: "Ant") {}
      EntityDescription("Stone") {}
    }
    #expect(model.entities.map(\.name) == ["Animal", "Ant", "Bee", "Zebra", "Stone"])
    #expect(model.entities.map(\.number) == [1, 2, 3, 4, 5])
    #expect(model.entities.map(\.descendantCount) == [3, 1, 0, 0, 0])
    let zebra = try model.entity(named: "Zebra")
    #expect(zebra.properties.map(\.name) == ["name", "stripes"])
    #expect(zebra.root.name == "Animal")
    #expect(model.hierarchy(of: zebra.root).count == 4)
  }
}
