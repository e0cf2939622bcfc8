import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: parked values, pairs and objects are the values of required properties without a default, however the
/// store is migrated, and rows without them are refused by the plan and by the migration alike.
@Suite("Required properties of which parked values return")
struct RequiredReturnTests {
  /// The ways of migrating, in each engine.
  enum Way {
    case inPlace, copying, inPlaceOnServer, copyingOnServer

    var isOnServer: Bool { [.inPlaceOnServer, .copyingOnServer].contains(self) }
    var copies: Bool { [.copying, .copyingOnServer].contains(self) }
  }

  private func withPlace(_ way: Way, _ body: (URL) throws -> Void) throws {
    if way.isOnServer {
      #if canImport(PersistPostgreSQL)
        try TestServer.withSchema { try body(#require(URL(string: $0))) }
      #endif
    } else {
      try withTemporaryFile(body)
    }
  }

  /// Versions without and with a required attribute, a required relationship and an entity.
  private func registry() throws -> ModelRegistry {
    let name = AttributeDescription("name", .string)
    let old = [
      EntityDescription("Item", attributes: [name]), EntityDescription("Person", attributes: [name]),
    ]
    let new = [
      EntityDescription(
        "Item", attributes: [name, .init("code", .int32, isOptional: false), .init("key", .uuid, isOptional: false)],
        relationships: [
          .init("owner", to: "Person", inverse: "items", isOptional: false),
          .init("box", to: "Box", inverse: "items", isOptional: false),
        ]),
      EntityDescription(
        "Person", attributes: [name], relationships: [.init("items", toMany: "Item", inverse: "owner")]),
      EntityDescription("Box", attributes: [name], relationships: [.init("items", toMany: "Item", inverse: "box")]),
    ]
    return ModelRegistry(
      versions: try [old, new].enumerated().map { number, entities in
        ModelVersion(name: "\(number + 1)", model: try ManagedObjectModel(ModelDescription(entities: entities)))
      })
  }

  private func change(_ url: URL, _ version: ModelVersion, _ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
    try coordinator.remove(store)
  }

  @Test(
    "They return in a file, unless an object without them was added", arguments: [Way.inPlace, .copying], [false, true])
  func inFile(_ way: Way, addsObject: Bool) throws { try check(way, addsObject) }

  #if canImport(PersistPostgreSQL)
    @Test(
      "They return on a server, unless an object without them was added", .needsServer,
      arguments: [Way.inPlaceOnServer, .copyingOnServer], [false, true])
    func onServer(_ way: Way, addsObject: Bool) throws { try check(way, addsObject) }
  #endif

  private func check(_ way: Way, _ addsObject: Bool) throws {
    let registry = try registry()
    let versions = registry.versions
    try withPlace(way) { url in
      try change(url, versions[1]) { context in
        for number in 1...3 {
          try context.make(
            "Item",
            [
              "name": "n\(number)", "code": number, "key": UUID(),
              "owner": context.make("Person", ["name": "p\(number)"]),
              "box": context.make("Box", ["name": "b\(number)"]),
            ])
        }
      }
      let before = try storedContents(at: StoreLocation(url))
      try AutomaticMigrator().migrate(storeAt: url, to: versions[0], registry: registry)
      if addsObject { try change(url, versions[0]) { try $0.make("Item", ["name": "new"]) } }
      let migrator = AutomaticMigrator(alwaysCopies: way.copies)
      let plan = try MigrationPlan(storeAt: url, to: versions[1], registry: registry, migrator: migrator)
      #expect(plan.isPossible != addsObject, "\(plan)")
      guard !addsObject else {
        let middle = try storedContents(at: StoreLocation(url))
        let error = persistError { try migrator.migrate(storeAt: url, to: versions[1], registry: registry) }
        #expect(error != nil)
        try #expect(storedContents(at: StoreLocation(url)) == middle)
        return
      }
      try migrator.migrate(storeAt: url, to: versions[1], registry: registry)
      try #expect(storedContents(at: StoreLocation(url)) == before)
    }
  }
}
