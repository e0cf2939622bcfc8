import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The destination objects of a policy's source objects, over several batches.
@Suite("Objects created by policies")
struct PolicyInstancesTests {
  private static let count = 3 * ObjectCopy.batchSize - 100

  private static func item() throws -> ManagedObjectModel {
    try model(EntityDescription("Item", attributes: [.init("number", .int64), .init("note", .string)]))
  }

  /// Migrates numbered items by a policy, then checks the new store.
  private func migrate(
    by policy: EntityMigrationPolicy.Type, _ look: (ManagedObjectContext, MigrationManager) throws -> Void
  ) throws {
    let model = try Self.item()
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: source)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<Self.count { ManagedObject(entity: "Item", context: context)["number"] = number }
      try context.save()
      try coordinator.remove(store)
      var items = EntityMapping("Items", from: "Item", to: "Item", policy: String(describing: policy))
      items.attributeMappings = [PropertyMapping("number", valueExpression: .source("number"))]
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      try manager.migrateStore(
        from: source, to: target, mappingModel: MappingModel("Items", entityMappings: [items]),
        policies: MigrationPolicies([policy]))
      let migrated = PersistentStoreCoordinator(model: model)
      try migrated.addStore(at: target)
      try look(ManagedObjectContext(migrated), manager)
    }
  }

  /// Creates an object for each item, and compares the associations found at the end with those it created.
  private class Keeper: EntityMigrationPolicy {
    /// The names of the objects expected for an item, unless there is only the default one.
    var expected: [Int: Set<String>] = [:]
    var related = 0

    static func number(_ object: ManagedObject) -> Int { object["number"] as? Int ?? -1 }

    func twin(of source: ManagedObject, _ note: String, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
      let twin = try manager.destinationContext.create("Item")
      twin["number"] = source["number"]
      twin["note"] = note
      try manager.associate(source: source, with: twin, for: mapping)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      related += 1
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      var total = 0
      try manager.sourceContext.forEachBatch(of: FetchRequest("Item")) { sources in
        for source in sources {
          let found = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])
          let number = Self.number(source)
          #expect(found.allSatisfy { Self.number($0) == number && !$0.isDeleted })
          #expect(Set(found.map { $0["note"] as? String ?? "" }) == expected[number] ?? [""], "item \(number)")
          #expect(found.count == (expected[number] ?? [""]).count, "item \(number)")
          for object in found {
            let origins = try manager.sourceInstances(forEntityMapping: mapping.name, destinationInstances: [object])
            #expect(origins == [source])
          }
          total += found.count
        }
      }
      #expect(related == total)
      manager.userInfo["total"] = total
    }
  }

  private func expectTotal(_ count: Int, _ context: ManagedObjectContext, _ manager: MigrationManager) throws {
    #expect(manager.userInfo["total"] as? Int == count)
    try #expect(context.count(for: FetchRequest("Item")) == count)
  }

  private final class LeavingOut: Keeper {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let number = Self.number(source)
      if number / ObjectCopy.batchSize == 1, number % 3 == 0 {
        expected[number] = []
      } else {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      }
    }
  }

  @Test("Objects omitted by a policy aren't found, those before, beside and after them are")
  func leavingOut() throws {
    try migrate(by: LeavingOut.self) { context, manager in
      let left = (ObjectCopy.batchSize..<2 * ObjectCopy.batchSize).count { $0 % 3 == 0 }
      try expectTotal(Self.count - left, context, manager)
    }
  }

  private final class Deleting: Keeper {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      guard Self.number(source) % 100 == 7 else { return }
      for copy in try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source]) {
        manager.destinationContext.delete(copy)
      }
      expected[Self.number(source)] = []
      guard Self.number(source) == 7 else { return }
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      expected[7] = nil
    }
  }

  @Test("An object that a policy deletes immediately isn't found; another can take its place")
  func deleting() throws {
    try migrate(by: Deleting.self) { context, manager in
      let deleted = (0..<Self.count).count { $0 % 100 == 7 } - 1
      try expectTotal(Self.count - deleted, context, manager)
    }
  }

  private final class Adding: Keeper {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      guard Self.number(source) % 10 == 3 else { return }
      try twin(of: source, "twin", mapping, manager)
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let made = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])
      #expect(made.map { $0["note"] as? String } == [nil, "twin", nil])
      made[2]["note"] = "third"
      expected[Self.number(source)] = ["", "twin", "third"]
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      for source in try manager.sourceContext.fetch(FetchRequest("Item", where: "number < 3")) {
        try twin(of: source, "late", mapping, manager)
        expected[Self.number(source)] = ["", "late"]
      }
    }
  }

  @Test("Further objects created by a policy, immediately or later, are found with the first")
  func adding() throws {
    try migrate(by: Adding.self) { context, manager in
      let more = (0..<Self.count).count { $0 % 10 == 3 } * 2 + 3
      try expectTotal(Self.count + more, context, manager)
    }
  }

  private final class Anticipating: Keeper {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      // One of an earlier batch, one of this batch, one of the last.
      guard Self.number(source) == ObjectCopy.batchSize + 5 else { return }
      for other in [0, ObjectCopy.batchSize + 10, PolicyInstancesTests.count - 1] {
        let request = try FetchRequest("Item", where: "number == %@", other)
        let found = try #require(try manager.sourceContext.fetch(request).first)
        let before = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [found])
        #expect(before.count == (other == 0 ? 1 : 0))
        try super.createDestinationInstances(forSource: found, in: mapping, manager: manager)
        let made = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [found])
        #expect(made.count == before.count + 1)
        made.last?["note"] = "more"
        expected[other] = ["", "more"]
      }
    }
  }

  @Test("A policy may create objects for other sources; these are also created when it is their turn")
  func anticipating() throws {
    try migrate(by: Anticipating.self) { try expectTotal(Self.count + 3, $0, $1) }
  }
}
