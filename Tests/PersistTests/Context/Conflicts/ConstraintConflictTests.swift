import Foundation
import Testing

@testable import Persist
@testable import PersistModel

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

  // MARK: Relationships and elements

  /// Ticket {price and seat.row together unique; guest unique}; Guest {name, tickets}; a seat has a row and a number.
  private static let tickets = ModelDescription(
    entities: [
      EntityDescription(
        "Ticket",
        attributes: [
          AttributeDescription("price", .int32), AttributeDescription("seat", .composite, compositeName: "Seat"),
        ],
        relationships: [RelationshipDescription("guest", to: "Guest", inverse: "tickets")],
        uniquenessConstraints: [["guest"], ["price", "seat.row"]]),
      EntityDescription("Upgrade", parent: "Ticket", attributes: [AttributeDescription("class", .string)]),
      EntityDescription(
        "Guest", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("tickets", toMany: "Ticket", inverse: "guest")]),
    ],
    composites: [
      CompositeDescription(
        "Seat", elements: [AttributeDescription("row", .string), AttributeDescription("number", .string)])
    ])

  @Test("A to-one relationship that must be unique is a conflict for the merge policy", arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, 2), (.mergeByPropertyStoreTrump, 1),
  ])
  func uniqueToOne(policy: MergePolicy, price: Int) throws {
    try withStack(Self.tickets) { stack in
      let first = stack.context()
      let ann = try first.make("Guest", ["name": "Ann"])
      try first.make("Ticket", ["price": 1, "guest": ann])
      try first.save()

      let second = stack.context()
      let guest = try second.named("Guest", "Ann")
      try second.make("Ticket", ["price": 2, "guest": guest])
      let conflict = try #require(persistError { try second.save() }?.constraintConflicts.first)
      #expect(conflict.constraint == ["guest"] && conflict.databaseObjectID?.primaryKey == 1)
      #expect(conflict.constraintValues == ["guest": .objectID(guest.objectID)])
      second.mergePolicy = policy
      try second.save()
      let fresh = try stack.reopened().context()
      let tickets = try fresh.fetch(FetchRequest("Ticket"))
      #expect(tickets.map { $0["price"] as? Int } == [price])
      #expect(tickets.first?.one("guest")?["name"] as? String == "Ann")
      withExtendedLifetime(fresh) {}
    }
  }

  @Test("Two new objects with the same new destination are a conflict if it must be unique")
  func uniqueNewDestination() throws {
    try withStack(Self.tickets) { stack in
      let context = stack.context()
      let guest = try context.make("Guest", ["name": "Ann"])
      let tickets = try (1...2).map { try context.make("Ticket", ["price": $0, "guest": guest]) }
      let conflict = try #require(persistError { try context.save() }?.constraintConflicts.first)
      #expect(conflict.constraint == ["guest"] && conflict.databaseObjectID == nil)
      #expect(Set(conflict.conflictingObjectIDs) == Set(tickets.map(\.objectID)))
    }
  }

  @Test("An element of a composite attribute is unique together with an attribute", arguments: ["Ticket", "Upgrade"])
  func uniqueElement(entity: String) throws {
    try withStack(Self.tickets) { stack in
      let first = stack.context()
      let ticket = try first.make("Ticket", ["price": 1, "seat": ["row": "A", "number": "1"]])
      try first.make("Ticket", ["price": 1, "seat": ["row": "B", "number": "1"]])
      try first.make("Ticket", ["price": 2, "seat": ["row": "A", "number": "1"]])
      for _ in 0..<2 { try first.make("Ticket", ["price": 1, "seat": ["number": "1"]]) }
      try first.save()

      let second = stack.context()
      try second.make(entity, ["price": 1, "seat": ["row": "A", "number": "9"]])
      let conflict = try #require(persistError { try second.save() }?.constraintConflicts.first)
      #expect(conflict.constraint == ["price", "seat.row"] && conflict.databaseObjectID == ticket.objectID)
      #expect(conflict.constraintValues == ["price": 1, "seat.row": "A"])
      second.mergePolicy = .mergeByPropertyObjectTrump
      try second.save()
      let fresh = try stack.reopened().context()
      let found = try fresh.fetch(FetchRequest("Ticket", where: "price == 1 AND seat.row == 'A'"))
      #expect(found.map { ($0["seat"] as? [String: Any])?["number"] as? String } == ["9"])
      #expect(found.first?.objectID.primaryKey == ticket.objectID.primaryKey)
      withExtendedLifetime((first, fresh)) {}
    }
  }

  @Test("Store trump gives up the composite attribute whose element isn't unique")
  func revertedElement() throws {
    try withStack(Self.tickets) { stack in
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyStoreTrump
      try context.make("Ticket", ["price": 1, "seat": ["row": "A"]])
      let other = try context.make("Ticket", ["price": 1, "seat": ["row": "B"]])
      try context.save()
      other["seat"] = ["row": "A", "number": "2"]
      try context.save()
      #expect((other["seat"] as? [String: Any])?["row"] as? String == "B")
    }
  }

  @Test("Rows of one save may exchange elements and relationships that must be unique")
  func exchangedElements() throws {
    try withStack(Self.tickets) { stack in
      let context = stack.context()
      let (ann, bob) = (try context.make("Guest", ["name": "Ann"]), try context.make("Guest", ["name": "Bob"]))
      let one = try context.make("Ticket", ["price": 1, "seat": ["row": "A"], "guest": ann])
      let two = try context.make("Ticket", ["price": 1, "seat": ["row": "B"], "guest": bob])
      try context.save()
      one["seat"] = ["row": "B"]
      two["seat"] = ["row": "A"]
      one["guest"] = bob
      two["guest"] = ann
      try context.save()
      let fresh = try stack.reopened().context()
      let found = try fresh.fetch(FetchRequest("Ticket", sortedBy: "seat.row"))
      #expect(found.map { $0.one("guest")?["name"] as? String } == ["Ann", "Bob"])
      withExtendedLifetime(fresh) {}
    }
  }
}
