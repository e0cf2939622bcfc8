#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist

  /// The steps of the article "From SQLite to PostgreSQL".
  @Suite("A table on a server that was partitioned by hand", .needsServer)
  struct ServerPartitionTests {
    private func model(_ attributes: [AttributeDescription] = []) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Event",
            attributes: [AttributeDescription("name", .string), AttributeDescription("number", .int64)] + attributes,
            indexes: [FetchIndexDescription("byName", on: "name")])
        ]))
    }

    @Test("Its rows are read and written, and the table is migrated in place")
    func works() throws {
      try TestServer.withSchema { url in
        let (old, new) = (try model(), try model([AttributeDescription("color", .string, default: .string("red"))]))
        let first = PersistentStoreCoordinator(model: old)
        let context = ManagedObjectContext(first)
        let info = try first.addStore(.postgreSQL(url), options: StoreOptions(historyKeeps: .oldValues))
        for number in 0..<10 { try context.make("Event", ["name": "\(number)", "number": Int64(number)]) }
        try context.save()
        try first.remove(info)

        let address = try #require(URL(string: url).flatMap(ServerAddress.init))
        let connection = try ServerDrivers.current.connect(to: address)
        defer { connection.close() }
        for sql in [
          "BEGIN", "ALTER TABLE shop.event RENAME TO event_all",
          "ALTER INDEX shop.event_by_name_index RENAME TO event_by_name_index_all",
          """
          CREATE TABLE shop.event (LIKE shop.event_all INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id)) \
          PARTITION BY RANGE (id)
          """,
          "ALTER TABLE shop.event ATTACH PARTITION shop.event_all FOR VALUES FROM (MINVALUE) TO (1000000000)",
          "CREATE TABLE shop.event_2 PARTITION OF shop.event FOR VALUES FROM (1000000000) TO (MAXVALUE)",
          "SELECT setval('shop.event_id_seq', 1000000000)", "COMMIT",
        ] { _ = try connection.run([ServerStatement(sql.replacing("shop.", with: address.schema + "."))]) }

        let second = PersistentStoreCoordinator(
          model: new,
          registry: ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]))
        let opened = try second.addStore(.postgreSQL(url), options: .automaticMigration)
        let later = ManagedObjectContext(second)
        #expect(try later.count(for: FetchRequest<ManagedObject>("Event", where: "color == 'red'")) == 10)
        let added = try later.make("Event", ["name": "new", "number": 10, "color": "blue"])
        try later.save()
        #expect(try #require(added.objectID.primaryKey) > 1_000_000_000)
        let found = try later.fetch(
          FetchRequest(
            "Event", where: "name == '3' OR name == 'new'", sortedBy: [FetchSortDescriptor("number")]))
        #expect(found.map { $0["color"] as? String } == ["red", "blue"])
        found[0]["number"] = 33
        later.delete(found[1])
        try later.save()
        #expect(try later.count(for: FetchRequest<ManagedObject>("Event", where: "number == 33")) == 1)
        #expect(try later.count(for: FetchRequest<ManagedObject>("Event")) == 10)
        let changes = try #require(second.transactions().last?.changes)
        #expect(changes.first { $0.changeType == .update }?.oldValues == ["number": .integer(3)])
        #expect(
          changes.first { $0.changeType == .delete }?.oldValues
            == ["name": .string("new"), "number": .integer(10), "color": .string("blue")])
        try second.remove(opened)
      }
    }
  }
#endif
