import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration manager and mapping models")
struct MigrationManagerTests {
  private static func staff(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Employee", attributes: [.init("name", .string), .init("salary", .int32)] + attributes,
        relationships: [.init("department", to: "Department", inverse: "employees")]),
      EntityDescription(
        "Department", attributes: [.init("name", .string)],
        relationships: [.init("employees", toMany: "Employee", inverse: "department")]))
  }

  /// Creates a store and fills it through a context.
  private func make(
    _ url: URL, _ model: ManagedObjectModel, _ fill: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try fill(context)
    try context.save()
    try coordinator.remove(store)
  }

  private func look(
    _ url: URL, _ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url)
    try body(ManagedObjectContext(coordinator))
  }

  @Test("MAP-01: an inferred mapping run manually keeps values and relationships; progress is 0 afterward")
  func inferredByHand() throws {
    let (old, new) = (try Self.staff(.init("hireDate", .date)), try Self.staff(.init("title", .string)))
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, old) { context in
        let alice = ManagedObject(entity: "Employee", context: context)
        alice["name"] = "Alice"
        alice["salary"] = 9
        let department = ManagedObject(entity: "Department", context: context)
        department["name"] = "Engineering"
        alice["department"] = department
      }
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      var states: [Double] = []
      manager.progress = {
        states.append($0.fraction)
        return true
      }
      try manager.migrateStore(from: source, to: target, mappingModel: .inferred(from: old, to: new))
      #expect(manager.migrationProgress == 0)
      #expect(states == states.sorted())
      #expect(states.last == 1)
      try look(target, new) { context in
        let alice = try #require(context.fetch(FetchRequest("Employee")).first)
        #expect(alice["salary"] as? Int == 9)
        #expect(alice["title"] == nil)
        #expect((alice["department"] as? ManagedObject)?["name"] as? String == "Engineering")
      }
    }
  }

  @Test("MAP-02: migrating a missing store throws, and creates no file")
  func noStore() throws {
    let model = try Self.staff()
    try withTemporaryFolder { folder in
      let target = folder.appendingPathComponent("b.sqlite")
      #expect(throws: PersistenceError.self) {
        try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
          from: folder.appendingPathComponent("a.sqlite"), to: target,
          mappingModel: .inferred(from: model, to: model))
      }
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
  }

  @Test("MAP-05: a canceled migration fails with 134120 and leaves nothing behind; a second one succeeds")
  func cancelling() throws {
    let (old, new) = (try Self.staff(), try Self.staff(.init("title", .string)))
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, old) { ManagedObject(entity: "Employee", context: $0)["name"] = "Alice" }
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      manager.progress = { _ in false }
      let mapping = try MappingModel.inferred(from: old, to: new)
      let error = #expect(throws: PersistenceError.self) {
        try manager.migrateStore(from: source, to: target, mappingModel: mapping)
      }
      #expect(error?.code == .migrationCancelled)
      #expect(!FileManager.default.fileExists(atPath: target.path))
      manager.progress = nil
      try manager.migrateStore(from: source, to: target, mappingModel: mapping)
      try look(target, new) { try #expect($0.count(for: FetchRequest("Employee")) == 1) }
    }
  }

  private static let feedback = EntityDescription(
    "Feedback", attributes: [.init("comment", .string), .init("rating", .double)])

  @Test("MAP-07, MAP-08: two entity mappings share a source by their predicates; values are computed in SQL")
  func split() throws {
    let old = try model(Self.feedback)
    var great = EntityMapping(
      "Great", from: "Feedback", to: "Feedback",
      attributes: [
        PropertyMapping("comment", valueExpression: .source("comment")),
        try PropertyMapping("rating", "$source.rating + 10"),
      ])
    great.sourceExpression = .sourceObjects(of: "Feedback", where: "comment CONTAINS 'great'")
    var other = great
    other.name = "Other"
    other.attributeMappings[1] = PropertyMapping("rating", valueExpression: .source("rating"))
    other.sourceExpression = .sourceObjects(of: "Feedback", where: "NOT comment CONTAINS 'great'")
    let mapping = MappingModel("Split", entityMappings: [great, other])
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("a.sqlite")
      try make(source, old) { context in
        for number in 0..<441 {
          let object = ManagedObject(entity: "Feedback", context: context)
          object["comment"] = number % 3 == 0 ? "great book" : "interesting book"
          object["rating"] = 1.3 + Double(number % 40) / 10
        }
      }
      for goesByObject in [false, true] {
        let target = folder.appendingPathComponent("b\(goesByObject).sqlite")
        try MigrationManager(sourceModel: old, destinationModel: old).migrateStore(
          from: source, to: target, mappingModel: mapping, policies: [], coreDataHashes: nil,
          goesByObject: goesByObject)
        try look(target, old) { context in
          let all = try context.fetch(FetchRequest("Feedback"))
          #expect(all.count == 441)
          for object in all {
            let rating = object["rating"] as? Double ?? 0
            let isGreat = (object["comment"] as? String)?.contains("great") == true
            #expect(isGreat ? rating >= 11.3 : rating <= 5.8)
          }
          #expect(all.count { ($0["rating"] as? Double ?? 0) > 10 } == 147)
        }
      }
    }
  }

  private final class Doubling: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      let made = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])
      #expect(made.count == 1)
      #expect(try manager.sourceInstances(forEntityMapping: mapping.name, destinationInstances: made) == [source])
      let twin = try manager.destinationContext.create("Employee")
      twin["name"] = "twin of \(source["name"] as? String ?? "")"
      try manager.associate(source: source, with: twin, for: mapping)
      manager.userInfo["count"] = (manager.userInfo["count"] as? Int ?? 0) + 1
    }

    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      manager.userInfo["ended"] = true
    }

    override func call(_ selector: String, arguments: [FetchValue]) throws -> FetchValue? {
      guard selector == "loud:", case .value(.string(let text)) = arguments[0] else { return nil }
      return .value(.string(text.uppercased()))
    }
  }

  @Test("MAP-10, MAP-11: a policy finds the default results, adds objects, and both are related in the second pass")
  func policy() throws {
    let model = try Self.staff()
    let employees = EntityMapping(
      "Employees", from: "Employee", to: "Employee", policy: "App.Doubling",
      attributes: [
        try PropertyMapping("name", "FUNCTION($entityPolicy, 'loud:', $source.name)"),
        PropertyMapping("salary", valueExpression: .source("salary")),
      ],
      relationships: [
        PropertyMapping(
          "department", valueExpression: .destinationInstances(ofMapping: "Departments", for: .source("department")))
      ])
    let departments = EntityMapping(
      "Departments", from: "Department", to: "Department",
      attributes: [PropertyMapping("name", valueExpression: .source("name"))],
      relationships: [
        PropertyMapping("employees", valueExpression: .destinationInstances(ofRelationship: "employees"))
      ])
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, model) { context in
        let department = ManagedObject(entity: "Department", context: context)
        for number in 0..<1201 {
          let employee = ManagedObject(entity: "Employee", context: context)
          employee["name"] = "e\(number)"
          employee["department"] = department
        }
      }
      let manager = MigrationManager(sourceModel: model, destinationModel: model)
      try manager.migrateStore(
        from: source, to: target,
        mappingModel: MappingModel("Twins", entityMappings: [employees, departments]), policies: [Doubling.self])
      #expect(manager.userInfo["count"] as? Int == 1201)
      #expect(manager.userInfo["ended"] as? Bool == true)
      try look(target, model) { context in
        try #expect(context.count(for: FetchRequest("Employee")) == 2402)
        try #expect(context.count(for: FetchRequest("Employee", where: "name BEGINSWITH 'E'")) == 1201)
        let department = try #require(context.fetch(FetchRequest("Department")).first)
        try #expect(department.related("employees").count == 2402)
      }
    }
  }

  @Test("MAP-13: a property mapping without an expression keeps the default; an inherited property is mapped by name")
  func defaults() throws {
    let parent = EntityDescription(
      "Animal", isAbstract: true, attributes: [.init("name", .string, default: .string("?"))])
    let child = EntityDescription("Cat", parent: "Animal", attributes: [.init("lives", .int16, default: .integer(9))])
    let model = try model(parent, child)
    var cats = EntityMapping("CatToCat", from: "Cat", to: "Cat")
    cats.attributeMappings = [
      PropertyMapping("name", valueExpression: .source("name")), PropertyMapping("lives", valueExpression: nil),
    ]
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, model) { context in
        let cat = ManagedObject(entity: "Cat", context: context)
        cat["name"] = "Tom"
        cat["lives"] = 3
      }
      try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
        from: source, to: target, mappingModel: MappingModel("Cats", entityMappings: [cats]))
      try look(target, model) { context in
        let cat = try #require(context.fetch(FetchRequest("Cat")).first)
        #expect(cat["name"] as? String == "Tom")
        #expect(cat["lives"] as? Int == 9)
      }
    }
  }

  @Test("MAP-14: two mapping models, each with a manager, produce one complete store")
  func parts() throws {
    let model = try Self.staff()
    let whole = try MappingModel.inferred(from: model, to: model)
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, model) { context in
        for number in 0..<5 {
          ManagedObject(entity: "Employee", context: context)["name"] = "e\(number)"
          ManagedObject(entity: "Department", context: context)["name"] = "d\(number)"
        }
      }
      for mapping in whole.entityMappings {
        try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
          from: source, to: target, mappingModel: MappingModel(mapping.name, entityMappings: [mapping]))
      }
      try look(target, model) { context in
        try #expect(context.count(for: FetchRequest("Employee")) == 5)
        try #expect(context.count(for: FetchRequest("Department")) == 5)
      }
    }
  }

  private final class Failing: EntityMigrationPolicy {
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      throw PersistenceError(.migrationFailed, "The policy fails.")
    }
  }

  @Test(
    "A mapping model that fails leaves a store that existed before unchanged, and can run again",
    arguments: [false, true])
  func failingPart(isByObject: Bool) throws {
    let model = try Self.staff()
    let whole = try MappingModel.inferred(from: model, to: model)
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, model) { context in
        for number in 0..<5 {
          ManagedObject(entity: "Employee", context: context)["name"] = "e\(number)"
          ManagedObject(entity: "Department", context: context)["name"] = "d\(number)"
        }
      }
      func migrate(_ part: Int, fails: Bool) throws {
        var mapping = whole.entityMappings[part]
        mapping.relationshipMappings = []
        let manager = MigrationManager(sourceModel: model, destinationModel: model)
        if fails {
          if isByObject { mapping.policyName = "Failing" } else { manager.progress = { $0.pass != .validation } }
        }
        try manager.migrateStore(
          from: source, to: target, mappingModel: MappingModel(mapping.name, entityMappings: [mapping]),
          policies: [Failing.self])
      }
      try migrate(0, fails: false)
      let before = try StoreDump(of: model, at: target)
      let error = #expect(throws: PersistenceError.self) { try migrate(1, fails: true) }
      #expect(error?.code == (isByObject ? .migrationFailed : .migrationCancelled))
      try #expect(StoreDump(of: model, at: target).differences(from: before) == [])
      #expect(FileState(WorkingFolder.url(besideStoreAt: target)) == nil)
      try migrate(1, fails: false)
      try look(target, model) { context in
        try #expect(context.count(for: FetchRequest("Employee")) == 5)
        try #expect(context.count(for: FetchRequest("Department")) == 5)
      }
      try #expect(PersistentStoreCoordinator.metadata(at: target).migrationLog.count == 2)
    }
  }

  @Test("A required value omitted by a mapping fails with its entity, property and row; nothing is left behind")
  func missingRequired() throws {
    let old = try model(EntityDescription("E", attributes: [.init("a", .string)]))
    let new = try model(EntityDescription("E", attributes: [.init("a", .string, isOptional: false)]))
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      try make(source, old) { _ = ManagedObject(entity: "E", context: $0) }
      let error = #expect(throws: PersistenceError.self) {
        try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
          from: source, to: target, mappingModel: .inferred(from: old, to: new))
      }
      #expect(error?.code == .validationMissingRequired)
      #expect(error?.place.entity == "E")
      #expect(error?.place.property == "a")
      #expect(error?.place.row == 1)
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
  }
}
