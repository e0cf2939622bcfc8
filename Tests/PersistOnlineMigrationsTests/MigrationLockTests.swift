import Foundation
import Persist
import PersistPostgreSQL
import PersistTestSupport
import Testing

/// The law: while a migration in one transaction holds exclusive locks, on which readers wait, its round trips depend
/// neither on the number of rows nor on that of entities that don't change.
@Suite("Locks of migrations in one transaction", .needsServer, .serialized)
struct MigrationLockTests {
  @Test("Neither rows nor other entities add round trips under exclusive locks", arguments: [false, true])
  func roundTrips(enforcesRules: Bool) throws {
    ExclusiveWork.install()
    let few = try flights(rows: 20, entities: 2, enforcesRules)
    #expect(try flights(rows: 80, entities: 2, enforcesRules) == few)
    #expect(try flights(rows: 20, entities: 8, enforcesRules) == few)
    #expect(few > 0 && few <= 60, "\(few)")
  }

  /// Versions in which an attribute of the first entity gets another type, an index and a relationship.
  private func version(_ number: Int, entities: Int) throws -> ModelVersion {
    var name = AttributeDescription("name", .string, isOptional: false, default: .string(""))
    name.validation.maximumLength = 100
    var links: [RelationshipDescription] = [.init("other1", to: "Other1", inverse: "items")]
    if number == 2 { links.append(.init("friend", to: "Other1", inverse: "friends")) }
    let first = EntityDescription(
      "Item", attributes: [name, .init("size", number == 1 ? .int32 : .double)], relationships: links,
      indexes: number == 1 ? [] : [FetchIndexDescription("bySize", on: "size")])
    // Each of the others has the next one, in a circle.
    let others = (1..<entities).map { place in
      let next = place % (entities - 1) + 1
      let previous = (place + entities - 3) % (entities - 1) + 1
      var links: [RelationshipDescription] = [
        .init("next", to: "Other\(next)", inverse: "previous\(place)"),
        .init("previous\(previous)", toMany: "Other\(previous)", inverse: "next"),
      ]
      if place == 1 { links.append(.init("items", toMany: "Item", inverse: "other1")) }
      if place == 1, number == 2 { links.append(.init("friends", toMany: "Item", inverse: "friend")) }
      return EntityDescription("Other\(place)", attributes: [name], relationships: links)
    }
    return ModelVersion(
      name: "\(number)",
      model: try ManagedObjectModel(ModelDescription(entities: [first] + others, versionIdentifiers: ["\(number)"])))
  }

  private func flights(rows: Int, entities: Int, _ enforcesRules: Bool) throws -> Int {
    let versions = try (1...2).map { try version($0, entities: entities) }
    return try TestServer.withSchema { text in
      let url = try #require(URL(string: text))
      var options = StoreOptions()
      options.enforcesValidation = enforcesRules
      let coordinator = PersistentStoreCoordinator(model: versions[0].model)
      let store = try coordinator.addStore(at: url, options: options)
      let context = ManagedObjectContext(coordinator)
      let other = ManagedObject(entity: "Other1", context: context)
      for number in 0..<rows {
        let item = ManagedObject(entity: "Item", context: context)
        item["size"] = number
        item["other1"] = other
      }
      try context.save()
      try coordinator.remove(store)
      let work = try ExclusiveWork.amount(of: url) {
        try AutomaticMigrator().migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      }
      return work.flights
    }
  }
}
