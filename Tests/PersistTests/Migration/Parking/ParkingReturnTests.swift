import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Parked values on the way back", .aboutFiles("parked values"))
struct ParkingReturnTests {
  private static let parking: AutomaticMigrator = {
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = .olderVersions
    return migrator
  }()

  private static func registry(_ versions: [[EntityDescription]]) throws -> ModelRegistry {
    ModelRegistry(
      versions: try versions.enumerated().map { number, entities in
        ModelVersion(name: "\(number + 1)", model: try ManagedObjectModel(ModelDescription(entities: entities)))
      })
  }

  /// Runs `body` with a context over a store of a version, and saves its changes.
  private func change(
    _ url: URL, _ version: ModelVersion, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
    try coordinator.remove(store)
  }

  private func migrate(_ url: URL, to number: Int, _ registry: ModelRegistry) throws {
    try Self.parking.migrate(storeAt: url, to: registry.versions[number - 1], registry: registry)
  }

  private func plan(_ url: URL, to number: Int, _ registry: ModelRegistry) throws -> MigrationPlan {
    try MigrationPlan(
      storeAt: url, to: registry.versions[number - 1], registry: registry, migrator: Self.parking)
  }

  private func names(_ entity: String, _ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entity)).compactMap { $0["name"] as? String }.sorted()
  }

  // MARK: Required relationships

  private static let person = EntityDescription(
    "Person", attributes: [.init("name", .string)], relationships: [.init("items", toMany: "Item", inverse: "owner")])

  private static func item(_ relationships: RelationshipDescription...) -> EntityDescription {
    EntityDescription("Item", attributes: [.init("name", .string)], relationships: relationships)
  }

  /// Versions without a relationship and with it, required; the first has its destination or lacks it.
  private static func requiring(hasDestination: Bool) throws -> ModelRegistry {
    let destination = hasDestination ? [EntityDescription("Person", attributes: [.init("name", .string)])] : []
    return try registry([
      [item()] + destination, [item(.init("owner", to: "Person", inverse: "items", isOptional: false)), person],
    ])
  }

  @Test("Parked pairs are the values of a required relationship", arguments: [true, false])
  func required(hasDestination: Bool) throws {
    let registry = try Self.requiring(hasDestination: hasDestination)
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        let owner = try context.make("Person", ["name": "Anna"])
        try context.make("Item", ["name": "Tea", "owner": owner])
      }
      try migrate(url, to: 1, registry)
      try #expect(plan(url, to: 2, registry).blockers == [])
      try migrate(url, to: 2, registry)
      try change(url, registry.versions[1]) { context in
        let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
        #expect(items.map { ($0["owner"] as? ManagedObject)?["name"] as? String } == ["Anna"])
      }
    }
  }

  @Test("Rows without a parked pair are refused by number, and so are those whose parked partner was deleted")
  func requiredButMissing() throws {
    let registry = try Self.requiring(hasDestination: true)
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        for name in ["Anna", "Bob", "Carl"] {
          let owner = try context.make("Person", ["name": name])
          try context.make("Item", ["name": "of \(name)", "owner": owner])
        }
      }
      try migrate(url, to: 1, registry)
      try change(url, registry.versions[0]) { context in
        try context.make("Item", ["name": "new"])
        let people = try context.fetch(FetchRequest<ManagedObject>("Person", where: "name == 'Bob'"))
        people.forEach(context.delete)
      }
      let blockers = try plan(url, to: 2, registry).blockers.map(\.what)
      #expect(blockers.count == 1 && blockers.first?.hasSuffix(": 2.") == true, "\(blockers)")
      #expect(throws: PersistenceError.self) { try migrate(url, to: 2, registry) }
    }
  }

  @Test("Parked pairs with objects of an entity that the older version lacks are values of a required relationship")
  func requiredOfSubentity() throws {
    func entities(_ isOptional: Bool, _ more: [EntityDescription]) -> [EntityDescription] {
      [Self.item(.init("owner", to: "Person", inverse: "items", isOptional: isOptional)), Self.person] + more
    }
    let registry = try Self.registry([
      entities(true, []), entities(false, [EntityDescription("Employee", parent: "Person")]),
    ])
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        for (entity, name) in [("Person", "Anna"), ("Employee", "Bob")] {
          let owner = try context.make(entity, ["name": name])
          try context.make("Item", ["name": "of \(name)", "owner": owner])
        }
      }
      let before = try StoreDump(of: registry.versions[1].model, at: url)
      try migrate(url, to: 1, registry)
      try #expect(plan(url, to: 2, registry).blockers == [])
      try migrate(url, to: 2, registry)
      let after = try StoreDump(of: registry.versions[1].model, at: url)
      #expect(after.differences(from: before) == [])
    }
  }

  // MARK: Values without a place

  @Test("Objects remain parked while their keys may belong to others in the table that they would return to")
  func mergedTables() throws {
    let name = [AttributeDescription("name", .string)]
    let note = EntityDescription("Note", attributes: name)
    let registry = try Self.registry([
      [note], [note, EntityDescription("Tag", attributes: name)], [note, EntityDescription("Tag", parent: "Note")],
    ])
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        for number in 1...2 { try context.make("Note", ["name": "note \(number)"]) }
        for number in 1...3 { try context.make("Tag", ["name": "tag \(number)"]) }
      }
      try migrate(url, to: 1, registry)
      let plan = try plan(url, to: 3, registry)
      #expect(plan.blockers == [] && plan.restored == [])
      #expect(plan.notes.contains { $0.contains("Tag") && $0.contains("remain parked") }, "\(plan.notes)")
      try migrate(url, to: 3, registry)
      try change(url, registry.versions[2]) { context in
        try #expect(names("Note", context) == ["note 1", "note 2"])
      }
      try migrate(url, to: 1, registry)
      try migrate(url, to: 2, registry)
      try change(url, registry.versions[1]) { context in
        try #expect(names("Note", context) == ["note 1", "note 2"])
        try #expect(names("Tag", context) == ["tag 1", "tag 2", "tag 3"])
      }
    }
  }

  @Test(
    "Values that the attribute's type can't represent remain parked, with a note",
    arguments: [(AttributeType.int32, 5_000_000_000), (.double, 9_007_199_254_740_993)] as [(AttributeType, Int)])
  func ranges(type: AttributeType, value: Int) throws {
    func item(_ type: AttributeType?) -> [EntityDescription] {
      [EntityDescription("Item", attributes: [.init("name", .string)] + (type.map { [.init("size", $0)] } ?? []))]
    }
    let registry = try Self.registry([item(nil), item(.int64), item(type)])
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        try context.make("Item", ["name": "large", "size": value])
        try context.make("Item", ["name": "small", "size": 7])
      }
      try migrate(url, to: 1, registry)
      let plan = try plan(url, to: 3, registry)
      #expect(plan.blockers == [] && plan.restored == [])
      #expect(plan.notes.contains { $0.contains("Item.size") && $0.contains("remain parked") }, "\(plan.notes)")
      try migrate(url, to: 3, registry)
      try change(url, registry.versions[2]) { context in
        let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
        #expect(items.allSatisfy { $0["size"] == nil })
      }
      try migrate(url, to: 1, registry)
      try migrate(url, to: 2, registry)
      try change(url, registry.versions[1]) { context in
        let items = try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name"))
        #expect(items.map { $0["size"] as? Int } == [value, 7])
      }
    }
  }

  @Test("A parked value that was given to another object since, although it must be unique, is refused by the plan")
  func uniqueness() throws {
    let parent = EntityDescription("Parent", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
    let registry = try Self.registry([[parent], [parent, EntityDescription("Child", parent: "Parent")]])
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        try context.make("Parent", ["name": "B"])
        try context.make("Child", ["name": "A"])
      }
      try migrate(url, to: 1, registry)
      try change(url, registry.versions[0]) { try $0.make("Parent", ["name": "A"]) }
      let blockers = try plan(url, to: 2, registry).blockers
      #expect(blockers.map(\.code) == [.constraintConflict], "\(blockers)")
      #expect(blockers.first?.property == "name" && blockers.first?.what.hasSuffix(": 1.") == true, "\(blockers)")
      #expect(throws: PersistenceError.self) { try migrate(url, to: 2, registry) }
      try change(url, registry.versions[0]) { context in
        for object in try context.fetch(FetchRequest<ManagedObject>("Parent", where: "name == 'A'")) {
          object["name"] = "C"
        }
      }
      try #expect(plan(url, to: 2, registry).blockers == [])
      try migrate(url, to: 2, registry)
      try change(url, registry.versions[1]) { try #expect(names("Parent", $0) == ["A", "B", "C"]) }
    }
  }
}
