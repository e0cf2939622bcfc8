import Testing

@testable import Persist
@testable import PersistModel

@Suite("Comparing models")
struct ModelComparisonTests {
  @Test("Added, removed and changed attributes are distinguished")
  func attributes() throws {
    let old = try model(
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("amount", .int32), AttributeDescription("colour", .string),
          AttributeDescription("count", .int16), AttributeDescription("title", .string),
          AttributeDescription("kept", .date, default: .null),
        ]))
    let new = try model(
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("quantity", .int32, renamingIdentifier: "amount"),
          AttributeDescription("count", .int64), AttributeDescription("price", .decimal),
          AttributeDescription("title", .string, isOptional: false, default: .string("none")),
          AttributeDescription("kept", .date),
        ]))
    let found = try differences(old, new)
    #expect(
      found == [
        "change attribute type Item.count (int16 → int64)",
        "add attribute Item.price (decimal)",
        "rename attribute Item.amount → quantity",
        "make attribute required Item.title (missing values become 'none')",
        "change default Item.title (nothing to store)",
        "remove attribute Item.colour (string)",
      ])
  }

  @Test("An entity is renamed by its renaming identifier, and references to it remain")
  func entities() throws {
    let old = try model(
      EntityDescription(
        "Car", relationships: [RelationshipDescription("owner", to: "Person", inverse: "cars")]),
      EntityDescription(
        "Person", relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "owner")]))
    let new = try model(
      EntityDescription(
        "Car", relationships: [RelationshipDescription("owner", to: "Human", inverse: "cars")]),
      EntityDescription(
        "Human", renamingIdentifier: "Person",
        relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "owner")]),
      EntityDescription("Maker"))
    #expect(try differences(old, new) == ["rename entity Person → Human", "add entity Maker"])
    #expect(try differences(new, old) == ["rename entity Human → Person", "remove entity Maker"])
  }

  @Test("One renaming identifier is enough for the two sides of a relationship")
  func inverseFollows() throws {
    let old = try model(
      EntityDescription("Car", relationships: [RelationshipDescription("owner", to: "Person", inverse: "cars")]),
      EntityDescription("Person", relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "owner")]))
    let new = try model(
      EntityDescription("Car", relationships: [RelationshipDescription("keeper", to: "Person", inverse: "cars")]),
      EntityDescription("Person", relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "keeper")]))
    #expect(try differences(old, new) == ["rename relationship Car.owner → keeper"])
  }

  @Test("A to-one that becomes an ordered to-many is the same relationship")
  func toMany() throws {
    let old = try model(
      EntityDescription(
        "Mark",
        relationships: [
          RelationshipDescription("folder", to: "Mark", inverse: "favorites"),
          RelationshipDescription("favorites", toMany: "Mark", inverse: "folder", isOrdered: true),
        ]))
    let new = try model(
      EntityDescription(
        "Mark",
        relationships: [
          RelationshipDescription("folders", toMany: "Mark", inverse: "favorites", renamingIdentifier: "folder"),
          RelationshipDescription("favorites", toMany: "Mark", inverse: "folders", isOrdered: true),
        ]))
    #expect(
      try differences(old, new) == ["rename relationship Mark.folder → folders", "make to many Mark.folders"])
  }

  @Test("A relationship whose destination was replaced starts empty")
  func destinationReplaced() throws {
    func nodes(_ name: String) -> EntityDescription {
      EntityDescription(name, relationships: [RelationshipDescription("chain", to: "Chain", inverse: "nodes")])
    }
    func chain(_ name: String) -> EntityDescription {
      EntityDescription("Chain", relationships: [RelationshipDescription("nodes", toMany: name, inverse: "chain")])
    }
    let comparison = try ModelComparison(
      from: try model(chain("Node"), nodes("Node")), to: try model(chain("NodeItem"), nodes("NodeItem")))
    #expect(
      comparison.operations.map(\.description) == [
        "add entity NodeItem", "change destination Chain.nodes (Node → NodeItem)", "remove entity Node",
      ])
    #expect(comparison.operations[1].losesData)
  }

  @Test("Attributes that move within a hierarchy keep their values")
  func moving() throws {
    let old = try model(
      EntityDescription("Animal"),
      EntityDescription("Cat", parent: "Animal", attributes: [AttributeDescription("name", .string)]),
      EntityDescription("Dog", parent: "Animal", attributes: [AttributeDescription("name", .string)]))
    let new = try model(
      EntityDescription("Animal", attributes: [AttributeDescription("name", .string)]),
      EntityDescription("Cat", parent: "Animal"), EntityDescription("Dog", parent: "Animal"))
    #expect(try differences(old, new) == ["move attribute Animal.name (up from Cat, Dog)"])
    #expect(
      try differences(new, old) == [
        "move attribute Cat.name (down from Animal)", "move attribute Dog.name (down from Animal)",
      ])
  }

  @Test("Rows of two tables can't be merged under a new parent")
  func merging() throws {
    let old = try model(EntityDescription("Cat"), EntityDescription("Dog"))
    let new = try model(
      EntityDescription("Animal"), EntityDescription("Cat", parent: "Animal"),
      EntityDescription("Dog", parent: "Animal"))
    let comparison = try ModelComparison(from: old, to: new)
    #expect(comparison.way == .impossible)
    #expect(comparison.operations.compactMap(\.obstacle?.entity) == ["Cat", "Dog"])
  }

  @Test("A type that can't represent every value is refused, one that can isn't")
  func types() throws {
    func type(_ type: AttributeType) throws -> ManagedObjectModel {
      try model(EntityDescription("Item", attributes: [AttributeDescription("value", type)]))
    }
    let cases: [(AttributeType, AttributeType, MigrationWay)] = [
      (.uri, .string, .inPlace), (.int16, .int64, .inPlace), (.int32, .double, .inPlace),
      (.int64, .decimal, .inPlace), (.string, .int32, .impossible), (.double, .float, .impossible),
      (.date, .string, .impossible),
    ]
    for (old, new, way) in cases {
      #expect(try ModelComparison(from: type(old), to: type(new)).way == way, "\(old) → \(new)")
    }
  }

  @Test("Rules, defaults and counts change nothing in a store")
  func rules() throws {
    let old = try model(
      EntityDescription("Item", attributes: [AttributeDescription("count", .int32, isOptional: false)]))
    let new = try model(
      EntityDescription(
        "Item", className: "Thing",
        attributes: [
          AttributeDescription(
            "count", .int32, default: .integer(1), validation: AttributeValidation(minimum: .integer(0)))
        ]))
    let comparison = try ModelComparison(from: old, to: new)
    #expect(comparison.way == .none)
    #expect(
      comparison.operations.map(\.kind) == [.changeRules, .makeAttributeOptional, .changeDefault, .changeRules])
  }

  @Test("An index follows its attributes to their new names")
  func indexes() throws {
    func item(_ attribute: AttributeDescription, indexed: String) throws -> ManagedObjectModel {
      try model(
        EntityDescription(
          "Item", attributes: [attribute], uniquenessConstraints: [[indexed]],
          indexes: [FetchIndexDescription("byIt", on: indexed)]))
    }
    let old = try item(AttributeDescription("a", .string), indexed: "a")
    let new = try item(AttributeDescription("b", .string, renamingIdentifier: "a"), indexed: "b")
    #expect(try differences(old, new) == ["rename attribute Item.a → b"])
  }

  @Test("A property that moves to a base entity's column is converted like one whose type changes")
  func baseOfOtherType() throws {
    let value = { (type: AttributeType, name: String, was: String?) in
      AttributeDescription(name, type, renamingIdentifier: was)
    }
    let cat = try model(EntityDescription("Cat", attributes: [value(.string, "v", nil)]))
    for name in ["v", "w"] {
      let new = try model(
        EntityDescription("Animal", attributes: [value(.int16, name, name == "v" ? nil : "v")]),
        EntityDescription("Cat", parent: "Animal"))
      let operations = try ModelComparison(from: cat, to: new).operations
      #expect(operations.contains { $0.kind == .changeAttributeType && $0.entity == "Cat" && $0.obstacle != nil })
      #expect(try !MigrationPlan(from: .init(name: "1", model: cat), to: .init(name: "2", model: new)).isPossible)
    }
    let moved = try model(
      EntityDescription("Animal"), EntityDescription("Pet", parent: "Animal", attributes: [value(.int16, "v", nil)]),
      EntityDescription("Cat", parent: "Animal", attributes: [value(.string, "v", nil)]))
    let below = try model(
      EntityDescription("Animal"), EntityDescription("Pet", parent: "Animal", attributes: [value(.int16, "v", nil)]),
      EntityDescription("Cat", parent: "Pet"))
    #expect(try ModelComparison(from: moved, to: below).way == .impossible)
  }
}
