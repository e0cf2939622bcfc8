import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Policies as applications write them for Core Data: they change their mapping and call super, and keep tables of the
/// objects that they created.
@Suite("Policies that change their mapping or look up objects they created")
struct PolicyLookupTests {
  private static let count = 2 * ObjectCopy.batchSize + 200
  private static let groupCount = 7

  private static func old() throws -> ManagedObjectModel {
    try model(
      EntityDescription("Item", attributes: [.init("number", .int64)], relationships: [.init("next", to: "Item")]))
  }

  private static func new() throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Item", attributes: [.init("text", .string)],
        relationships: [.init("after", to: "Item"), .init("group", to: "Group", inverse: "items")]),
      EntityDescription(
        "Group", attributes: [.init("name", .string), .init("size", .int64)],
        relationships: [.init("items", toMany: "Item", inverse: "group")]))
  }

  /// Migrates numbered items by a policy; the entity mapping has no expressions.
  private func migrate(
    by policy: EntityMigrationPolicy.Type, _ look: (ManagedObjectContext) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let (old, new) = (try Self.old(), try Self.new())
      let coordinator = PersistentStoreCoordinator(model: old)
      let store = try coordinator.addStore(at: source)
      let context = ManagedObjectContext(coordinator)
      var last: ManagedObject?
      for number in 0..<Self.count {
        let item = try context.create("Item")
        item["number"] = number
        item["next"] = last
        last = item
      }
      try context.save()
      try coordinator.remove(store)
      let items = EntityMapping("Items", from: "Item", to: "Item", policy: String(describing: policy))
      try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: source, to: target, mappingModel: MappingModel("Items", entityMappings: [items]),
        policies: MigrationPolicies([policy]))
      let migrated = PersistentStoreCoordinator(model: new)
      try migrated.addStore(at: target)
      try look(ManagedObjectContext(migrated))
    }
  }

  private final class Rewriting: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      var mapping = mapping
      let number = source["number"] as? Int ?? -1
      mapping.attributeMappings = [
        number % 2 == 0
          ? PropertyMapping("text", valueExpression: .constant(.string("even \(number)")))
          : try PropertyMapping("text", "CAST($source.number, 'NSString')")
      ]
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      var mapping = mapping
      mapping.relationshipMappings = [
        PropertyMapping("after", valueExpression: .destinationInstances(ofMapping: "Items", for: .source("next")))
      ]
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
  }

  @Test("Expressions changed by a policy before it calls super determine the values and relationships")
  func rewriting() throws {
    try migrate(by: Rewriting.self) { context in
      let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
      #expect(items.count == Self.count)
      let texts = Set(items.map { $0["text"] as? String })
      #expect(texts == Set((0..<Self.count).map { $0 % 2 == 0 ? "even \($0)" : "\($0)" }))
      #expect(items.count { $0["after"] == nil } == 1)
      let second = try #require(items.first { $0["text"] as? String == "1" })
      #expect((second["after"] as? ManagedObject)?["text"] as? String == "even 0")
    }
  }

  /// Finds or creates the group of each item.
  private class Grouping: EntityMigrationPolicy {
    func group(named name: String, _ manager: MigrationManager) throws -> ManagedObject? { nil }
    func remember(_ group: ManagedObject, named name: String, _ manager: MigrationManager) {}

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let number = source["number"] as? Int ?? -1
      let name = "group \(number % PolicyLookupTests.groupCount)"
      let copies = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])
      copies[0]["text"] = "\(number)"
      if let known = try group(named: name, manager) {
        known["size"] = (known["size"] as? Int ?? 0) + 1
        copies[0]["group"] = known
      } else {
        let new = try manager.destinationContext.create("Group")
        new["name"] = name
        new["size"] = 1
        remember(new, named: name, manager)
        copies[0]["group"] = new
      }
    }
  }

  private final class GroupsInUserInfo: Grouping {
    override func group(named name: String, _ manager: MigrationManager) -> ManagedObject? {
      (manager.userInfo["groups"] as? [String: ManagedObject])?[name]
    }

    override func remember(_ group: ManagedObject, named name: String, _ manager: MigrationManager) {
      var groups = manager.userInfo["groups"] as? [String: ManagedObject] ?? [:]
      groups[name] = group
      manager.userInfo["groups"] = groups
    }
  }

  private class GroupsAmongRegistered: Grouping {
    override func group(named name: String, _ manager: MigrationManager) throws -> ManagedObject? {
      manager.destinationContext.registeredObjects
        .first { $0.entity.name == "Group" && $0["name"] as? String == name }
    }
  }

  /// Looks among the registered objects only after the first batch.
  private final class GroupsAmongRegisteredLate: GroupsAmongRegistered {
    private var asked = 0

    override func group(named name: String, _ manager: MigrationManager) throws -> ManagedObject? {
      asked += 1
      guard asked <= ObjectCopy.batchSize else { return try super.group(named: name, manager) }
      let request = try FetchRequest<ManagedObject>("Group", where: "name == %@", name)
      return try manager.destinationContext.fetch(request).first
    }
  }

  @Test("Objects retained by a policy or looked up among the registered ones are the same in later batches", arguments: [
    GroupsInUserInfo.self, GroupsAmongRegistered.self, GroupsAmongRegisteredLate.self,
  ] as [EntityMigrationPolicy.Type])
  func grouping(_ policy: EntityMigrationPolicy.Type) throws {
    try migrate(by: policy) { context in
      let groups = try context.fetch(FetchRequest<ManagedObject>("Group", sortedBy: "name"))
      #expect(groups.map { $0["name"] as? String } == (0..<Self.groupCount).map { "group \($0)" })
      for (index, group) in groups.enumerated() {
        let members = (0..<Self.count).filter { $0 % Self.groupCount == index }
        #expect(group["size"] as? Int == members.count)
        #expect(Set(try group.related("items").map { $0["text"] as? String }) == Set(members.map { "\($0)" }))
      }
    }
  }
}
