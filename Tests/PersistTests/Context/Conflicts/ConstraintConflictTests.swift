import Foundation
import Testing

@testable import Persist

@Suite("Uniqueness constraints")
struct ConstraintConflictTests {
  /// Car {plate unique, maker; first and last together unique; owner, tags}; SportCar: Car; Owner {name, cars}; Tag.
  static let cars = ModelDescription(entities: [
    EntityDescription(
      "Car",
      attributes: [
        AttributeDescription("plate", .string), AttributeDescription("maker", .string),
        AttributeDescription("first", .string), AttributeDescription("last", .string),
      ],
      relationships: [
        RelationshipDescription("owner", to: "Owner", inverse: "cars"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "cars"),
        RelationshipDescription("parts", toMany: "Part", inverse: "car", deleteRule: .cascade),
      ], uniquenessConstraints: [["plate"], ["first", "last"]]),
    EntityDescription("SportCar", parent: "Car", attributes: [AttributeDescription("power", .int32)]),
    EntityDescription(
      "Owner", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("cars", toMany: "Car", inverse: "owner"),
        RelationshipDescription("dream", to: "Car", inverse: nil),
      ]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("cars", toMany: "Car", inverse: "tags")]),
    EntityDescription(
      "Part", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("car", to: "Car", inverse: "parts")]),
  ])

  /// A store that contains a FIAT with the plate 1, and a context with a policy that hasn't read it.
  private func withFiat(
    _ policy: MergePolicy = .error, _ body: (TestStack, ManagedObjectContext) throws -> Void
  ) throws {
    try withStack(Self.cars) { stack in
      let context = stack.context()
      try context.make("Car", ["plate": "1", "maker": "FIAT"])
      try context.save()
      let second = stack.context()
      second.mergePolicy = policy
      try body(stack, second)
    }
  }

  private func stored(_ stack: TestStack) throws -> [String] {
    try stack.reopened().context().fetch(FetchRequest("Car", sortedBy: "plate")).map {
      "\($0["plate"] as? String ?? "-") \($0["maker"] as? String ?? "-")"
    }
  }

  @Test("Without a policy the save fails with 133021 and lists object, row and values")
  func error() throws {
    try withFiat { stack, context in
      let car = try context.make("Car", ["plate": "1", "maker": "Kia"])
      let error = try #require(persistError { try context.save() })
      #expect(error.code.rawValue == 133021 && error.constraintConflicts.count == 1)
      let conflict = try #require(error.constraintConflicts.first)
      #expect(conflict.entityName == "Car" && conflict.constraint == ["plate"])
      #expect(conflict.constraintValues == ["plate": "1"])
      #expect(conflict.databaseObjectID?.primaryKey == 1 && conflict.databaseSnapshot?["maker"] == "FIAT")
      #expect(conflict.conflictingObjectIDs == [car.objectID])
      #expect(conflict.conflictingSnapshots.map { $0["maker"] } == ["Kia"])
      #expect(error.message.contains("plate"))
      #expect(context.insertedObjects == [car])
      #expect(try stored(stack) == ["1 FIAT"])
    }
  }

  @Test("Two new objects with one value are a conflict without a row")
  func errorOfTwo() throws {
    try withStack(Self.cars) { stack in
      let context = stack.context()
      let cars = try (0..<2).map { try context.make("Car", ["plate": "7", "maker": "\($0)"]) }
      let conflict = try #require(persistError { try context.save() }?.constraintConflicts.first)
      #expect(conflict.databaseObjectID == nil && conflict.databaseSnapshot == nil)
      #expect(conflict.conflictingObjectIDs == cars.map(\.objectID))
    }
  }

  @Test("A new object is merged into the row that has the value, with its own values or the row's", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, "Kia"), (.overwrite, "Kia"), (.mergeByPropertyStoreTrump, "FIAT"),
    (.rollback, "FIAT"),
  ])
  func upsert(policy: MergePolicy, maker: String) throws {
    try withFiat(policy) { stack, context in
      let car = try context.make("Car", ["plate": "1", "maker": "Kia"])
      let other = try context.make("Car", ["plate": "2", "maker": "McLaren"])
      try context.save()
      #expect(car.objectID.primaryKey == 1 && car["maker"] as? String == maker)
      #expect(context.registeredObject(for: car.objectID) === car && !context.hasChanges)
      #expect(context.registeredObject(for: other.objectID) === other)
      car["first"] = "later"
      try context.save()
      #expect(try stored(stack) == ["1 \(maker)", "2 McLaren"])
      #expect(try stack.reopened().context().named("Car", "1", by: "plate")["first"] as? String == "later")
    }
  }

  @Test("If the row's object is registered, it remains the row's object, and receives the values", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, "Kia"), (.mergeByPropertyStoreTrump, "FIAT"),
  ])
  func upsertIntoLiving(policy: MergePolicy, maker: String) throws {
    try withFiat(policy) { stack, context in
      let alive = try context.named("Car", "1", by: "plate")
      let car = try context.make("Car", ["plate": "1", "maker": "Kia"])
      try context.save()
      #expect(alive["maker"] as? String == maker && car.objectID == alive.objectID)
      #expect(context.registeredObjects.contains(alive) && !context.registeredObjects.contains(car))
      #expect(try stored(stack) == ["1 \(maker)"])
    }
  }

  @Test("Two new objects with the same value become one row, with the later's or the earlier's values", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, "later"), (.overwrite, "later"),
    (.mergeByPropertyStoreTrump, "earlier"), (.rollback, "earlier"),
  ])
  func twoNew(policy: MergePolicy, maker: String) throws {
    try withFiat(policy) { stack, context in
      let earlier = try context.make("Car", ["plate": "7", "maker": "earlier"])
      let later = try context.make("Car", ["plate": "7", "maker": "later"])
      try context.save()
      #expect(context.registeredObject(for: earlier.objectID) === earlier && later.objectID == earlier.objectID)
      #expect(try stored(stack) == ["1 FIAT", "7 \(maker)"])
    }
  }

  @Test("A thousand upserts are resolved together")
  func many() throws {
    try withStack(Self.cars) { stack in
      let first = stack.context()
      for plate in 0..<1000 { try first.make("Car", ["plate": "\(plate)", "maker": "old"]) }
      try first.save()
      let second = stack.context()
      second.mergePolicy = .mergeByPropertyObjectTrump
      for plate in 500..<1500 { try second.make("Car", ["plate": "\(plate)", "maker": "new"]) }
      let calls = stack.store.calls
      try second.save()
      #expect(stack.store.calls - calls < 15)
      let fresh = try stack.reopened().context()
      #expect(try fresh.count(for: FetchRequest("Car")) == 1500)
      #expect(try fresh.count(for: FetchRequest("Car", where: "maker == 'new'")) == 1000)
    }
  }

  @Test("A constraint of several attributes applies to all of them together; a missing value never equals another")
  func compound() throws {
    try withStack(Self.cars) { stack in
      let context = stack.context()
      try context.make("Car", ["plate": "1", "first": "a", "last": "b"])
      try context.make("Car", ["plate": "2", "first": "a", "last": "c"])
      try context.make("Car", ["first": "a"])
      try context.make("Car", ["first": "a"])
      try context.save()
      let second = stack.context()
      try second.make("Car", ["plate": "3", "first": "a", "last": "b", "maker": "new"])
      let conflict = try #require(persistError { try second.save() }?.constraintConflicts.first)
      #expect(conflict.constraint == ["first", "last"] && conflict.databaseSnapshot?["plate"] == "1")
      second.mergePolicy = .mergeByPropertyObjectTrump
      try second.save()
      #expect(try stored(stack) == ["- -", "- -", "2 -", "3 new"])
    }
  }

  @Test("A constraint holds among subentities; the row keeps its own entity")
  func subentities() throws {
    try withFiat(.mergeByPropertyObjectTrump) { stack, context in
      try context.make("SportCar", ["plate": "1", "maker": "Kia", "power": 200])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.fetch(FetchRequest("Car")).map(\.entity.name) == ["Car"])
      #expect(try fresh.named("Car", "1", by: "plate")["maker"] as? String == "Kia")
    }
  }

  @Test("Objects related to the new object are then related to the row", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, "Ann", ["new", "old"]),
    (.mergeByPropertyStoreTrump, "Bob", ["new", "old"]), (.rollback, "Bob", ["old"]),
  ])
  func relationships(policy: MergePolicy, owner: String, tags: [String]) throws {
    try withStack(Self.cars) { stack in
      let first = stack.context()
      let bob = try first.make("Owner", ["name": "Bob"])
      let old = try first.make("Tag", ["name": "old"])
      try first.make("Car", ["plate": "1", "owner": bob, "tags": [old]])
      try first.save()

      let second = stack.context()
      second.mergePolicy = policy
      let ann = try second.make("Owner", ["name": "Ann"])
      let new = try second.make("Tag", ["name": "new"])
      let part = try second.make("Part", ["name": "wheel"])
      let car = try second.make("Car", ["plate": "1", "owner": ann, "tags": [new], "parts": [part]])
      ann["dream"] = car
      try second.save()
      #expect(part.one("car") === car && ann.one("dream") === car)
      #expect(try car.names("tags") == tags && car.one("owner")?["name"] as? String == owner)
      #expect(try ann.names("cars", by: "plate") == (owner == "Ann" ? ["1"] : []))

      let fresh = try stack.reopened().context()
      let row = try fresh.named("Car", "1", by: "plate")
      #expect(try row.names("tags") == tags && row.one("owner")?["name"] as? String == owner)
      #expect(try row.names("parts") == ["wheel"])
      #expect(try fresh.named("Owner", owner).names("cars", by: "plate") == ["1"])
      #expect(try fresh.named("Owner", "Ann").one("dream") === row)
    }
  }

  @Test("A changed row that uses another row's value wins or gives up the value", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, ["1 Kia"]), (.overwrite, ["1 Kia"]),
    (.mergeByPropertyStoreTrump, ["1 FIAT", "2 Kia"]), (.rollback, ["1 FIAT", "2 old"]),
  ])
  func update(policy: MergePolicy, expected: [String]) throws {
    try withFiat(policy) { stack, context in
      let car = try context.make("Car", ["plate": "2", "maker": "old"])
      try context.save()
      car["plate"] = "1"
      car["maker"] = "Kia"
      try context.save()
      #expect(try stored(stack) == expected)
    }
  }

  @Test("Rows of one save may exchange their values, and the value of a deleted row may be reused")
  func exchange() throws {
    try withFiat { stack, context in
      let fiat = try context.named("Car", "1", by: "plate")
      let kia = try context.make("Car", ["plate": "2", "maker": "Kia"])
      let gone = try context.make("Car", ["plate": "3", "maker": "gone"])
      try context.save()
      fiat["plate"] = "2"
      kia["plate"] = "1"
      context.delete(gone)
      try context.make("Car", ["plate": "3", "maker": "new"])
      try context.save()
      #expect(try stored(stack) == ["1 Kia", "2 FIAT", "3 new"])
    }
  }

  @Test("A custom resolver copies the row's values to a new object, and lets it win")
  func custom() throws {
    struct KeepingMakers: ConflictResolver {
      func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
        for conflict in conflicts {
          guard case .string(let maker)? = conflict.databaseSnapshot?["maker"] else { continue }
          for id in conflict.conflictingObjectIDs {
            let object = context.object(with: id)
            if object["maker"] == nil { object["maker"] = maker }
          }
        }
        try MergePolicy.mergeByPropertyObjectTrump.resolve(conflicts, in: context)
      }
    }
    try withFiat(.custom(KeepingMakers())) { stack, context in
      try context.make("Car", ["plate": "1", "first": "a"])
      try context.save()
      #expect(try stored(stack) == ["1 FIAT"])
      #expect(try stack.reopened().context().named("Car", "1", by: "plate")["first"] as? String == "a")
    }
  }
}
