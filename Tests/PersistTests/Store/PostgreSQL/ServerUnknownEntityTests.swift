#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Rows of other programs whose entity number is missing or unknown: they aren't objects, however they are asked for.
  @Suite("Rows of unknown entities on a server", .needsServer)
  struct ServerUnknownEntityTests {
    private static let description = ModelDescription(entities: [
      EntityDescription(
        "Item", attributes: [.init("number", .int64), .init("title", .string)],
        relationships: [.init("owner", to: "Owner", inverse: "items"), .init("next", to: "Item")]),
      EntityDescription("Special", parent: "Item"),
      EntityDescription(
        "Owner", attributes: [.init("name", .string)],
        relationships: [.init("items", toMany: "Item", inverse: "owner")]),
    ])

    /// A store with three owners, the first with four items. The numbers of the second owner and of the last item are
    /// missing, those of the third owner and of the third item unknown.
    private func withStore(_ body: (URL, ManagedObjectContext) throws -> Void) throws {
      let model = try ManagedObjectModel(Self.description)
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        let owners = try (1...3).map { try context.make("Owner", ["name": "owner \($0)"]) }
        for number in 1...4 {
          try context.make(number == 2 ? "Special" : "Item", ["number": number, "title": "t", "owner": owners[0]])
        }
        try context.save()
        try ForeignSQL.run(
          "UPDATE owner SET entity = NULL WHERE name = 'owner 2'", "UPDATE owner SET entity = 99 WHERE name = 'owner 3'",
          "UPDATE item SET entity = 99 WHERE number = 3", "UPDATE item SET entity = NULL WHERE number = 4",
          "UPDATE item SET next_id = (SELECT id FROM item WHERE number = 3), next_entity = NULL WHERE number = 1",
          at: url)
        try body(url, ManagedObjectContext(coordinator))
      }
    }

    @Test("Fetches, counts, aggregates, groups, dictionaries and members agree that they aren't there")
    func consistent() throws {
      try withStore { _, context in
        #expect(try context.fetch(FetchRequest<ManagedObject>("Owner")).count == 1)
        #expect(try context.count(for: FetchRequest<ManagedObject>("Owner")) == 1)
        #expect(try context.count(for: FetchRequest<ManagedObject>("Owner", where: "name BEGINSWITH 'o'")) == 1)
        #expect(try context.count(for: FetchRequest<ManagedObject>("Item")) == 2)
        #expect(try context.fetchObjectIDs(FetchRequest<ManagedObject>("Item")).count == 2)
        for (name, count) in [("Owner", 1), ("Item", 2)] {
          var page = FetchRequest<ManagedObject>(name)
          page.fetchLimit = 10
          #expect(try context.count(for: page) == count)
          page.fetchLimit = count
          page.sortDescriptors = [FetchSortDescriptor(key: name == "Owner" ? "name" : "number", ascending: false)]
          #expect(try context.fetch(page).count == count)
          page.fetchOffset = count
          #expect(try context.fetch(page).isEmpty)
        }
        let item = try #require(context.fetch(FetchRequest<ManagedObject>("Item", where: "number == 1")).first)
        let owner = try #require(item["owner"] as? ManagedObject)
        #expect(try owner.objectIDs(forRelationshipNamed: "items").count == 2)
      }
    }

    @Test("A reference to such a row leads to an object that counts as deleted")
    func reference() throws {
      try withStore { _, context in
        let item = try #require(context.fetch(FetchRequest<ManagedObject>("Item", where: "number == 1")).first)
        if let next = item["next"] as? ManagedObject {
          #expect(next["title"] == nil && next["number"] as? Int ?? 0 == 0)
        }
        item["title"] = "changed"
        try context.save()
      }
    }

    @Test("A batch deletion leaves them, and a check names each")
    func batches() throws {
      try withStore { url, context in
        var details: [String] = []
        try StoreLocation(url).check(registry: nil) { details.append("\($0.kind): \($0.detail)") }
        #expect(details.count >= 4, "\(details)")
        let result = try context.execute(BatchDeleteRequest(FetchRequest<ManagedObject>("Owner")))
        #expect(result.count == 1)
        try #expect(ForeignSQL.run("SELECT count(*) FROM owner", at: url) == [["2"]])
      }
    }
  }
#endif
