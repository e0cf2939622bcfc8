import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The cost of work in a store, as its model gets more entities.
@Suite("Growth with the number of entities", .serialized)
struct EntityGrowthTests {
  /// Entities that refer to each other, also without inverses.
  private static func model(_ count: Int, adding attribute: String? = nil) throws -> ManagedObjectModel {
    let entities = (0..<count).map { number in
      EntityDescription(
        "Entity\(number)",
        attributes: [.init("name", .string), .init("quantity", .int64)]
          + (number == count - 1 ? attribute.map { [.init($0, .double)] } ?? [] : []),
        relationships: [
          .init("next", to: "Entity\((number + 1) % count)", inverse: "former"),
          .init("former", toMany: "Entity\((number + count - 1) % count)", inverse: "next"),
          .init("others", toMany: "Entity\((number + 7) % count)"),
        ])
    }
    return try ManagedObjectModel(ModelDescription(entities: entities))
  }

  /// The least work of three runs, each on a store of its own.
  private func work(_ count: Int, _ run: (URL) throws -> Duration) throws -> Duration {
    try (0..<3).map { _ in
      try withTemporaryFile { url in
        let coordinator = PersistentStoreCoordinator(model: try Self.model(count))
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        try context.create("Entity1")["name"] = "Tea"
        try context.save()
        try coordinator.remove(store)
        return try run(url)
      }
    }.min() ?? .zero
  }

  @Test("The first save in a store costs the same, however many entities its model has")
  func firstSave() throws {
    func cost(_ count: Int) throws -> Duration {
      try work(count) { url in
        let coordinator = PersistentStoreCoordinator(model: try Self.model(count))
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        let object = try #require(try context.fetch(FetchRequest<ManagedObject>("Entity1")).first)
        object["quantity"] = 3
        let work = try ThreadWork.of { try context.save() }
        try coordinator.remove(store)
        return work
      }
    }
    let (few, many) = (try cost(50), try cost(400))
    #expect(many <= few * 3 + .milliseconds(3), "\(few) and \(many)")
  }

  @Test("Adding an attribute costs no more than the number of entities")
  func migration() throws {
    func cost(_ count: Int) throws -> Duration {
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(count)),
        ModelVersion(name: "2", model: try Self.model(count, adding: "discount")),
      ])
      return try work(count) { url in
        let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
        return try ThreadWork.of { try coordinator.addStore(at: url, options: .automaticMigration) }
      }
    }
    let (few, many) = (try cost(50), try cost(200))
    // A quadratic part costs up to 16 times as much.
    #expect(many <= few * 6 + .milliseconds(20), "\(few) and \(many)")
  }
}
