import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A new object with a unique value that a row already has becomes the object of that row.
@Suite("Upserts")
struct UpsertTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Car",
      attributes: [
        AttributeDescription("plate", .string), AttributeDescription("maker", .string),
        AttributeDescription("model", .string), AttributeDescription("seats", .int32, default: 4),
        AttributeDescription("doors", .int32, default: 5),
      ],
      relationships: [
        RelationshipDescription("owner", to: "Person", inverse: "cars"),
        RelationshipDescription("driver", to: "Person", inverse: "drives"),
      ],
      uniquenessConstraints: [["plate"]]),
    EntityDescription(
      "Person", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("cars", toMany: "Car", inverse: "owner"),
        RelationshipDescription("drives", toMany: "Car", inverse: "driver"),
      ]),
  ])

  private final class Car: ManagedObject {
    override func awakeFromInsert() { self["maker"] = "made by awakeFromInsert" }
  }

  /// Saves a car, then another one with the same plate and some given values, and reads the stored row.
  private func upsert(
    _ policy: MergePolicy, class type: ManagedObject.Type = ManagedObject.self, throughChild: Bool = false,
    _ body: (ManagedObject) throws -> Void
  ) throws -> [String: String] {
    var found: [String: String] = [:]
    try withStack(Self.model) { stack in
      let first = stack.context()
      let ann = try first.make("Person", ["name": "Ann"])
      try first.make(
        "Car", ["plate": "1", "maker": "old", "model": "kept", "seats": 7, "doors": 3, "owner": ann, "driver": ann])
      try first.save()
      let parent = ManagedObjectContext(stack.coordinator, classes: ["Car": type])
      parent.mergePolicy = policy
      let context = throughChild ? ManagedObjectContext(parent: parent) : parent
      let car = try context.make("Car", ["plate": "1"])
      try body(car)
      try context.save()
      if throughChild { try parent.save() }
      let fresh = try stack.reopened().context()
      let cars = try fresh.fetch(FetchRequest<ManagedObject>("Car"))
      try #require(cars.count == 1)
      for property in cars[0].entity.properties where property.attribute != nil {
        found[property.name] = cars[0][property.name].map { "\($0)" } ?? "nil"
      }
      for name in ["owner", "driver"] { found[name] = cars[0].one(name)?["name"] as? String ?? "nil" }
      withExtendedLifetime(fresh) {}
    }
    return found
  }

  @Test("Under object trump, an upsert writes only the values given to the new object", arguments: [false, true])
  func objectTrump(throughChild: Bool) throws {
    let found = try upsert(.mergeByPropertyObjectTrump, throughChild: throughChild) { $0["maker"] = "new" }
    #expect(
      found == [
        "plate": "1", "maker": "new", "model": "kept", "seats": "7", "doors": "3", "owner": "Ann", "driver": "Ann",
      ])
  }

  @Test("Nil and a value that equals the default count as given")
  func givenDefaults() throws {
    let found = try upsert(.mergeByPropertyObjectTrump) { car in
      car["model"] = nil
      car["seats"] = 4
      car["owner"] = try car.managedObjectContext?.make("Person", ["name": "Bob"])
      car["owner"] = nil
    }
    #expect(
      found == [
        "plate": "1", "maker": "old", "model": "nil", "seats": "4", "doors": "3", "owner": "nil", "driver": "Ann",
      ])
  }

  @Test("A relationship set from its other side counts as given")
  func givenFromTheOtherSide() throws {
    let found = try upsert(.mergeByPropertyObjectTrump) { car in
      let bob = try #require(try car.managedObjectContext?.make("Person", ["name": "Bob"]))
      try bob.related("drives").insert(car)
    }
    #expect(found["owner"] == "Ann" && found["driver"] == "Bob")
  }

  @Test("Values that a class assigns to its new objects are defaults")
  func classDefaults() throws {
    let found = try upsert(.mergeByPropertyObjectTrump, class: Car.self) { $0["seats"] = 5 }
    #expect(found["maker"] == "old" && found["seats"] == "5")
  }

  @Test("Under overwrite, all values are the new object's; under store trump and rollback, all are the row's")
  func otherPolicies() throws {
    let overwritten = try upsert(.overwrite) { $0["maker"] = "new" }
    #expect(overwritten["maker"] == "new" && overwritten["model"] == "nil" && overwritten["seats"] == "4")
    for policy in [MergePolicy.mergeByPropertyStoreTrump, .rollback] {
      let kept = try upsert(policy) { $0["maker"] = "new" }
      #expect(kept["maker"] == "old" && kept["model"] == "kept" && kept["seats"] == "7")
    }
  }

  @Test("Of two new objects, the later one gives the first only the values that it was given")
  func twoNew() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.make("Car", ["plate": "1", "maker": "first", "seats": 2])
      try context.make("Car", ["plate": "1", "model": "second"])
      try context.save()
      let cars = try stack.reopened().context().fetch(FetchRequest<ManagedObject>("Car"))
      try #require(cars.count == 1)
      #expect(cars[0]["maker"] as? String == "first" && cars[0]["model"] as? String == "second")
      #expect(cars[0]["seats"] as? Int == 2)
    }
  }

  @Test("Properties after the first 63 are distinguished by their defaults")
  func wide() throws {
    let attributes = (0..<80).map { AttributeDescription("a\($0)", .int32) }
    let wide = ModelDescription(entities: [
      EntityDescription("Wide", attributes: attributes, uniquenessConstraints: [["a0"]])
    ])
    try withStack(wide) { stack in
      let first = stack.context()
      let row = try first.make("Wide")
      for index in 0..<80 { row["a\(index)"] = index }
      try first.save()
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.make("Wide", ["a0": 0, "a1": -1, "a70": -70])
      try context.save()
      let again = try #require(try stack.reopened().context().fetch(FetchRequest("Wide")).first)
      for index in 0..<80 { #expect(again["a\(index)"] as? Int == (index == 1 || index == 70 ? -index : index)) }
    }
  }
}
