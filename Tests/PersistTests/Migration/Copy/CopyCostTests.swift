import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The statements executed by a copy object by object: one for each row written, and a few for each batch.
@Suite("Cost of copying object by object, in statements")
struct CopyCostTests {
  private static let batches = 4
  private static let count = batches * ObjectCopy.batchSize
  /// A transaction, the key counter, the reads of a batch and a check for other connections' changes, in both passes;
  /// and the beginning, the end, and the seal of the new store.
  private static let limitBeside = batches * 24 + 20

  private static func staff() throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Employee", attributes: [.init("name", .string), .init("salary", .double)],
        relationships: [.init("department", to: "Department", inverse: "employees")]),
      EntityDescription(
        "Department", attributes: [.init("name", .string)],
        relationships: [.init("employees", toMany: "Employee", inverse: "department")]))
  }

  /// Records how many statements ran between the beginning of the first pass and the end of the last.
  private class Counting: EntityMigrationPolicy {
    private var before = 0

    private func executed(_ manager: MigrationManager) -> Int {
      let contexts = [manager.sourceContext, manager.destinationContext]
      let stores = contexts.flatMap(\.persistentStoreCoordinator.openStores).compactMap { $0 as? SQLiteStore }
      let associations = (manager.copy as? ObjectCopy)?.pairs.table as? SQLiteAssociations
      let pairs = associations?.connection.counts.executed ?? 0
      return stores.reduce(pairs) { $0 + $1.pool.counts.executed }
    }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
      before = executed(manager)
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      manager.userInfo["statements"] = executed(manager) - before
    }
  }

  /// The number of statements needed to migrate employees, each in one of ten departments.
  private func statements(
    policy: EntityMigrationPolicy.Type,
    _ change: (_ employees: inout EntityMapping, _ departments: inout EntityMapping) throws -> Void = { _, _ in },
    _ look: (ManagedObjectContext) throws -> Void
  ) throws -> Int {
    let model = try Self.staff()
    return try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let coordinator = PersistentStoreCoordinator(model: model)
      let store = try coordinator.addStore(at: source)
      let context = ManagedObjectContext(coordinator)
      let sources = (0..<10).map { _ in ManagedObject(entity: "Department", context: context) }
      for number in 0..<Self.count {
        let employee = ManagedObject(entity: "Employee", context: context)
        employee["name"] = "employee \(number)"
        employee["salary"] = Double(number)
        employee["department"] = sources[number % 10]
      }
      try context.save()
      try coordinator.remove(store)
      var employees = EntityMapping("Employees", from: "Employee", to: "Employee", policy: String(describing: policy))
      employees.attributeMappings = ["name", "salary"].map { PropertyMapping($0, valueExpression: .source($0)) }
      var departments = EntityMapping(
        "Departments", from: "Department", to: "Department",
        attributes: [PropertyMapping("name", valueExpression: .source("name"))])
      try change(&employees, &departments)
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      try manager.migrateStore(
        from: source, to: target, mappingModel: MappingModel("Staff", entityMappings: [departments, employees]),
        policies: MigrationPolicies([policy]))
      let migrated = PersistentStoreCoordinator(model: model)
      try migrated.addStore(at: target)
      try look(ManagedObjectContext(migrated))
      return try #require(manager.userInfo["statements"] as? Int)
    }
  }

  private final class Raising: Counting {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let made = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])
      made[0]["salary"] = (source["salary"] as? Double ?? 0) + 1
    }
  }

  @Test("A policy that changes values: one statement for each object")
  func values() throws {
    let statements = try statements(policy: Raising.self) { context in
      try #expect(context.count(for: FetchRequest("Employee", where: "salary > 0")) == Self.count)
    }
    #expect(statements <= Self.count + Self.limitBeside)
  }

  private final class Doubling: Counting {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let twin = try manager.destinationContext.create("Employee")
      try manager.associate(source: source, with: twin, for: mapping)
    }
  }

  @Test("A policy that creates a second object: one statement for each, one to record it, and one to find it")
  func pairs() throws {
    let statements = try statements(policy: Doubling.self) { context in
      try #expect(context.count(for: FetchRequest("Employee")) == 2 * Self.count)
    }
    #expect(statements <= 4 * Self.count + Self.limitBeside)
  }

  @Test("A to-one relationship of a policy's objects: a second statement for each")
  func toOne() throws {
    let statements = try statements(policy: Raising.self) { employees, _ in
      employees.relationshipMappings = [
        PropertyMapping(
          "department", valueExpression: .destinationInstances(ofMapping: "Departments", for: .source("department")))
      ]
    } _: { context in
      try expectDepartments(context)
    }
    #expect(statements <= 2 * Self.count + Self.limitBeside)
  }

  @Test("A to-many relationship of a policy's objects: a statement for each member, and a few for each object")
  func toMany() throws {
    let statements = try statements(policy: Counting.self) { employees, departments in
      (employees.policyName, departments.policyName) = (nil, employees.policyName)
      departments.relationshipMappings = [
        PropertyMapping("employees", valueExpression: .destinationInstances(ofRelationship: "employees"))
      ]
    } _: { context in
      try expectDepartments(context)
    }
    #expect(statements <= Self.count + 10 * 5 + Self.limitBeside)
  }

  private func expectDepartments(_ context: ManagedObjectContext) throws {
    try #expect(context.count(for: FetchRequest("Employee", where: "department != nil")) == Self.count)
    let departments = try context.fetch(FetchRequest("Department"))
    let sizes = try departments.map { try $0.related("employees").count }
    #expect(sizes == Array(repeating: Self.count / 10, count: 10))
  }
}
