import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Checking a model")
struct ModelCheckTests {
  private func messages(_ description: ModelDescription) -> [String] {
    ModelCheck.problems(in: description).map { "\($0.place): \($0.message)" }
  }

  private func messages(_ entities: EntityDescription...) -> [String] {
    messages(ModelDescription(entities: entities))
  }

  private func messages(attribute: AttributeDescription) -> [String] {
    messages(EntityDescription("E", attributes: [attribute]))
  }

  @Test("A valid model has no problems, and a relationship needs no inverse")
  func good() {
    #expect(
      messages(
        EntityDescription(
          "Item", attributes: [AttributeDescription("description", .string), AttributeDescription("hash", .int64)],
          relationships: [
            RelationshipDescription("category", to: "Category", inverse: "items"),
            RelationshipDescription("entity", to: "Item", inverse: nil),
            RelationshipDescription("friends", toMany: "Item", inverse: "friends"),
          ], uniquenessConstraints: [["description", "category"]], indexes: [FetchIndexDescription("by", on: "hash")]),
        EntityDescription("Special", parent: "Item", uniquenessConstraints: [["hash"]]),
        EntityDescription(
          "Category", relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category")])
      ).isEmpty)
  }

  @Test("All problems are reported at once, each with its place and its fix")
  func all() {
    let problems = ModelCheck.problems(
      in: ModelDescription(
        entities: [
          EntityDescription("A", parent: "Nowhere", attributes: [AttributeDescription("x", .undefined)]),
          EntityDescription("A"), EntityDescription("a"), EntityDescription("9 lives"),
        ], configurations: ["C": ["Z"]], fetchRequestTemplates: ["T": FetchRequestDescription(entity: "Y")]))
    #expect(problems.count == 6)
    #expect(problems.allSatisfy { $0.code == .invalidModel && $0.fix != nil && $0.place != .unknown })
    #expect(throws: PersistenceError.self) { try ManagedObjectModel(ModelDescription(entities: [EntityDescription("")])) }
  }

  @Test("Inverses must exist, be relationships, and lead back")
  func inverses() {
    let found = messages(
      EntityDescription(
        "A", attributes: [AttributeDescription("x", .string)],
        relationships: [
          RelationshipDescription("r", to: "B", inverse: "missing"),
          RelationshipDescription("s", to: "B", inverse: "text"),
          RelationshipDescription("t", to: "B", inverse: "oneWay"),
          RelationshipDescription("u", to: "B", inverse: "elsewhere"),
          RelationshipDescription("v", to: "Nowhere", inverse: nil),
        ]),
      EntityDescription(
        "B", attributes: [AttributeDescription("text", .string)],
        relationships: [
          RelationshipDescription("oneWay", to: "A", inverse: nil),
          RelationshipDescription("elsewhere", to: "C", inverse: "u"),
        ]),
      EntityDescription("C", relationships: [RelationshipDescription("u", to: "B", inverse: "elsewhere")]))
    #expect(found.count == 5)
    let parts = ["doesn't exist", "isn't a relationship", "names no inverse", "not back", "isn't an entity"]
    for (message, part) in zip(found, parts) {
      #expect(message.contains(part), "\(message)")
    }
  }

  @Test("An inverse may be inherited on either side")
  func inheritedInverses() {
    #expect(
      messages(
        EntityDescription("Base", relationships: [RelationshipDescription("owner", to: "Person", inverse: "things")]),
        EntityDescription("Special", parent: "Base"),
        EntityDescription(
          "Person", relationships: [RelationshipDescription("things", toMany: "Special", inverse: "owner")])
      ).isEmpty)
  }

  @Test("Parents must exist, and no entity is its own ancestor")
  func parents() {
    let found = messages(
      EntityDescription("A", parent: "C"), EntityDescription("B", parent: "A"), EntityDescription("C", parent: "B"),
      EntityDescription("D", parent: "A"), EntityDescription("E", parent: "E"))
    #expect(found.count == 2)
    #expect(found.first?.contains("A → C → B → A") == true)
    #expect(found.last?.contains("E → E") == true)
  }

  @Test("Property names are unique, also among inherited ones, and are valid names")
  func propertyNames() {
    let found = messages(
      EntityDescription("A", attributes: [AttributeDescription("x", .string)]),
      EntityDescription("B", parent: "A"),
      EntityDescription(
        "C", parent: "B",
        attributes: [
          AttributeDescription("x", .string), AttributeDescription("y", .string), AttributeDescription("_pk", .string),
          AttributeDescription("a-b", .string), AttributeDescription("größe", .string),
        ], relationships: [RelationshipDescription("y", to: "A", inverse: nil)]))
    #expect(found.count == 4)
  }

  @Test(
    "Defaults must be of their attribute's type and in its range",
    arguments: [
      AttributeDescription("x", .int16, default: .integer(40_000)),
      AttributeDescription("x", .int32, default: .integer(3_000_000_000)),
      AttributeDescription("x", .string, default: .integer(1)),
      AttributeDescription("x", .boolean, default: .integer(1)),
      AttributeDescription("x", .date, default: .double(1)),
      AttributeDescription("x", .decimal, default: .string("1")),
      AttributeDescription("x", .float, default: .double(1e300)),
    ])
  func defaults(attribute: AttributeDescription) {
    #expect(messages(attribute: attribute).count == 1)
  }

  @Test("A type is required unless the attribute is transient")
  func types() {
    #expect(messages(attribute: AttributeDescription("x", .undefined)).count == 1)
    #expect(messages(attribute: AttributeDescription("x", .undefined, isTransient: true)).isEmpty)
  }

  @Test("Limits must be in order, and a pattern must be a regular expression")
  func validation() {
    let broken = [
      AttributeValidation(minimum: .integer(2), maximum: .integer(1)),
      AttributeValidation(minimumLength: 2, maximumLength: 1), AttributeValidation(pattern: "("),
    ]
    for validation in broken {
      #expect(messages(attribute: AttributeDescription("x", .int16, validation: validation)).count == 1)
    }
    let found = messages(
      EntityDescription(
        "E",
        relationships: [
          RelationshipDescription(name: "r", destination: "E", inverse: nil, minimumCount: 3, maximumCount: 2),
          RelationshipDescription(name: "s", destination: "E", inverse: nil, minimumCount: -1, maximumCount: 0),
        ]))
    #expect(found.count == 2)
  }

  @Test("Indexes and constraints name columns")
  func indexes() {
    let found = messages(
      EntityDescription(
        "E", attributes: [AttributeDescription("x", .string)],
        relationships: [RelationshipDescription("many", toMany: "E", inverse: nil)],
        uniquenessConstraints: [["x", "gone"], [], ["many"]],
        indexes: [FetchIndexDescription("i", on: "gone"), FetchIndexDescription("i", on: "x")],
        compoundIndexes: [["x", "gone"]]))
    #expect(found.count == 6)
  }

  @Test("A uniqueness constraint names only stored values: without one of them it would be a stricter one")
  func uniqueness() {
    func found(_ name: String) -> [String] {
      messages(
        ModelDescription(
          entities: [
            EntityDescription(
              "E",
              attributes: [
                AttributeDescription("x", .string), AttributeDescription("memory", .string, isTransient: true),
                AttributeDescription("place", .composite, compositeName: "Place"),
              ],
              relationships: [RelationshipDescription("owner", to: "E", inverse: nil)],
              uniquenessConstraints: [["x", name]])
          ],
          composites: [
            CompositeDescription(
              "Place",
              elements: [
                AttributeDescription("city", .string),
                AttributeDescription("inner", .composite, compositeName: "Inner"),
              ]),
            CompositeDescription("Inner", elements: [AttributeDescription("y", .double)]),
          ]))
    }
    for name in ["owner", "place", "place.city", "place.inner", "place.inner.y"] { #expect(found(name) == []) }
    for (name, part) in [
      ("memory", "a transient attribute"), ("self", "isn't a property"), ("entity", "isn't a property"),
      ("place.town", "an element that 'place' doesn't have"), ("place.inner.z", "'inner' doesn't have"),
      ("x.y", "which isn't composite"), ("owner.x", "a property of another object"),
    ] {
      #expect(found(name).count == 1 && found(name).first?.contains(part) == true, "\(found(name))")
    }
  }

  @Test("Composite types exist, aren't recursive and have a limited size")
  func composites() {
    func composite(_ name: String, _ elements: [String?]) -> CompositeDescription {
      CompositeDescription(
        name,
        elements: elements.enumerated().map { index, type in
          AttributeDescription("e\(index)", type == nil ? .double : .composite, compositeName: type)
        })
    }
    #expect(messages(attribute: AttributeDescription("x", .composite, compositeName: "Place")).count == 1)
    #expect(messages(attribute: AttributeDescription("x", .composite)).count == 1)
    #expect(messages(ModelDescription(composites: [composite("A", ["B"]), composite("B", ["A"])])).count == 2)
    #expect(messages(ModelDescription(composites: [composite("A", ["B", nil]), composite("B", [nil, nil])])).isEmpty)
    // Each contains the next ten times: ten to the twelfth elements if they were flattened.
    let tower = (0..<12).map { composite("C\($0)", Array(repeating: "C\($0 + 1)", count: 10)) }
    #expect(!messages(ModelDescription(composites: tower + [composite("C12", [nil])])).isEmpty)
  }

  @Test("A hierarchy of excessive depth is refused without traversing it")
  func depth() {
    let chain = (0..<5_000).map { EntityDescription("E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)") }
    #expect(messages(ModelDescription(entities: chain)).first?.contains("more than 100 parents") == true)
    let many = (0...ModelCheck.Limit.entities).map { EntityDescription("E\($0)") }
    #expect(messages(ModelDescription(entities: many)).count == 1)
  }
}
