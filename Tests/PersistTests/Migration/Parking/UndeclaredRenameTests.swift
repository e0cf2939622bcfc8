import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("An automatic migration destroys nothing")
struct UndeclaredRenameTests {
  private static func registry(_ versions: [[EntityDescription]]) throws -> ModelRegistry {
    ModelRegistry(
      versions: try versions.enumerated().map { number, entities in
        ModelVersion(name: "\(number + 1)", model: try ManagedObjectModel(ModelDescription(entities: entities)))
      })
  }

  private static func item(_ attributes: AttributeDescription...) -> [EntityDescription] {
    [EntityDescription("Item", attributes: [.init("name", .string)] + attributes)]
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

  private func values(_ property: String, _ context: ManagedObjectContext) throws -> [Int?] {
    try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name")).map { $0[property] as? Int }
  }

  @Test(
    "Values of an undeclared rename are parked with advice, and come back when it is declared", arguments: [false, true]
  )
  func rename(copies: Bool) throws {
    let registry = try Self.registry([
      Self.item(.init("quantity", .int32)), Self.item(.init("amount", .int32)),
      Self.item(.init("amount", .int32, renamingIdentifier: "quantity")),
    ])
    try withTemporaryStore { url in
      try change(url, registry.versions[0]) { context in
        for number in 1...3 { try context.make("Item", ["name": "\(number)", "quantity": number * 10]) }
      }
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      let report = try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      #expect(report.parked == 3)
      #expect(report.renameHints.map(\.newName) == ["amount"])
      #expect(report.renameHints.first?.advice.contains("@Attribute(renamedFrom: \"quantity\") var amount") == true)
      let contents = try PersistentStoreCoordinator.parkedContents(at: url)
      #expect(contents.map { "\($0.entity).\($0.property ?? "") \($0.count)" } == ["Item.quantity 3"])
      try change(url, registry.versions[1]) { context in
        try #expect(values("amount", context) == [nil, nil, nil])
        for object in try context.fetch(FetchRequest<ManagedObject>("Item", where: "name == '2'")) {
          context.delete(object)
        }
      }
      // The parked value of an object goes with the object.
      try #expect(PersistentStoreCoordinator.parkedContents(at: url).map(\.count) == [2])
      try migrator.migrate(storeAt: url, to: registry.versions[2], registry: registry)
      try change(url, registry.versions[2]) { try #expect(values("amount", $0) == [10, 30]) }
      try #expect(PersistentStoreCoordinator.parkedContents(at: url).isEmpty)
    }
  }

  @Test(
    "A required attribute without default comes back for the old rows, and refuses new ones by number",
    // A copy of a server's store is made in a file, which doesn't contain what is parked on the server.
    arguments: TestEngine.current == .sqlite ? [false, true] : [false])
  func required(copies: Bool) throws {
    let registry = try Self.registry([
      Self.item(.init("code", .int32, isOptional: false)), Self.item(),
      Self.item(.init("code", .int32, isOptional: false), .init("note", .string)),
    ])
    let migrator = AutomaticMigrator(alwaysCopies: copies)
    try withTemporaryStore { url in
      try change(url, registry.versions[0]) { try $0.make("Item", ["name": "a", "code": 7]) }
      try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try change(url, registry.versions[1]) { try $0.make("Item", ["name": "b"]) }
      let blockers = try MigrationPlan(
        storeAt: url, to: registry.versions[2], registry: registry, migrator: migrator
      ).blockers
      #expect(blockers.count == 1 && blockers.first?.what.hasSuffix(": 1.") == true, "\(blockers)")
      try change(url, registry.versions[1]) { context in
        try context.fetch(FetchRequest<ManagedObject>("Item", where: "name == 'b'")).forEach(context.delete)
      }
      try migrator.migrate(storeAt: url, to: registry.versions[2], registry: registry)
      try change(url, registry.versions[2]) { try #expect(values("code", $0) == [7]) }
    }
  }

  @Test("What was parked is purged on request, after some migrations, or at once")
  func purge() throws {
    let registry = try Self.registry([
      Self.item(.init("size", .int32)), Self.item(), Self.item(.init("a", .string)), Self.item(.init("b", .string)),
    ])
    func parked(
      _ migrator: AutomaticMigrator, to versions: [Int], _ then: (URL) throws -> Void = { _ in }
    ) throws -> Int {
      var count = 0
      try withTemporaryStore { url in
        try change(url, registry.versions[0]) { try $0.make("Item", ["name": "a", "size": 7]) }
        for version in versions {
          try migrator.migrate(storeAt: url, to: registry.versions[version - 1], registry: registry)
        }
        try then(url)
        count = try PersistentStoreCoordinator.parkedContents(at: url).count
      }
      return count
    }
    var migrator = AutomaticMigrator()
    try #expect(parked(migrator, to: [2, 3, 4]) == 1)
    try #expect(parked(migrator, to: [2]) { try PersistentStoreCoordinator.purgeParkedContents(at: $0) } == 0)
    migrator.parkedLifetime = .migrations(1)
    try #expect(parked(migrator, to: [2, 3]) == 1)
    try #expect(parked(migrator, to: [2, 3, 4]) == 0)
    migrator.parkedLifetime = .seconds(0)
    let expiring = migrator
    try #expect(
      parked(migrator, to: [2]) { url in
        Thread.sleep(forTimeInterval: 1.1)
        let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model)
        try coordinator.remove(coordinator.addStore(at: url, options: StoreOptions(migrator: expiring)))
      } == 0)
    migrator.parking = .none
    try #expect(parked(migrator, to: [2]) == 0)
  }

  @Test("A parked missing value stays parked, and the default stands in where a value is required")
  func missing() throws {
    func versions(_ isOptional: Bool) -> [EntityDescription] {
      [
        EntityDescription("Doc", attributes: [.init("t", .string)]),
        EntityDescription(
          "Item",
          attributes: [.init("name", .string), .init("n", .int32, isOptional: isOptional, default: .integer(5))]),
      ]
    }
    let registry = try Self.registry([Array(versions(true).prefix(1)), versions(false), versions(true)])
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = .olderVersions
    try withTemporaryStore { url in
      try change(url, registry.versions[2]) { context in
        try context.make("Item", ["name": "a", "n": 1])
        try context.make("Item", ["name": "b"])["n"] = nil
      }
      try migrator.migrate(storeAt: url, to: registry.versions[0], registry: registry)
      let plan = try MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry, migrator: migrator)
      let up = try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      #expect(plan.restored.reduce(0) { $0 + ($1.rows ?? 0) } == up.restored, "\(plan.restored)")
      try change(url, registry.versions[1]) { try #expect(values("n", $0) == [1, 5]) }
      try migrator.migrate(storeAt: url, to: registry.versions[2], registry: registry)
      try change(url, registry.versions[2]) { try #expect(values("n", $0) == [1, nil]) }
    }
  }

  @Test("An order that only the newer version has leaves no pairs parked after down and up")
  func redundantPairs() throws {
    func entities(_ isOrdered: Bool) -> [EntityDescription] {
      [
        EntityDescription(
          "Item", attributes: [.init("name", .string)],
          relationships: [.init("tags", toMany: "Tag", inverse: "items")]),
        EntityDescription(
          "Tag", relationships: [.init("items", toMany: "Item", inverse: "tags", isOrdered: isOrdered)]),
      ]
    }
    let registry = try Self.registry([entities(false), entities(true)])
    var migrator = AutomaticMigrator(allowsLoss: false)
    migrator.parking = .olderVersions
    try withTemporaryStore { url in
      try change(url, registry.versions[1]) { context in
        let tag = try context.make("Tag")
        for name in ["a", "b"] { try context.make("Item", ["name": name])["tags"] = Set([tag]) }
      }
      try migrator.migrate(storeAt: url, to: registry.versions[0], registry: registry)
      try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try #expect(PersistentStoreCoordinator.parkedContents(at: url).isEmpty)
    }
  }
}
