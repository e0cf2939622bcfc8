#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The steps of the article "From SQLite to PostgreSQL".
  @Suite("A table on a server that was partitioned by hand", .needsServer)
  struct ServerPartitionTests {
    private func model(
      _ attributes: [AttributeDescription] = [], _ indexes: [FetchIndexDescription] = []
    ) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Event",
            attributes: [AttributeDescription("name", .string), AttributeDescription("number", .int64)] + attributes,
            indexes: [FetchIndexDescription("byName", on: "name")] + indexes)
        ]))
    }

    private func partition(_ url: String) throws {
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

        try partition(url)
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

    @Test("Its deferred indexes are created, though others have to wait")
    func deferredIndexes() throws {
      try TestServer.withSchema { url in
        let color = AttributeDescription("color", .string)
        let (old, new) = (try model(), try model([color], [FetchIndexDescription("byNumber", on: "number")]))
        let first = PersistentStoreCoordinator(model: old)
        let info = try first.addStore(.postgreSQL(url))
        try first.remove(info)
        try partition(url)
        let second = PersistentStoreCoordinator(
          model: new,
          registry: ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]))
        let opened = try second.addStore(.postgreSQL(url), options: .automaticMigrationDeferringWork)
        #expect(try second.finishDeferredMigration())
        let valid = """
          SELECT count(*) FROM pg_index WHERE indisvalid AND indexrelid = 'event_by_number_index'::regclass
          """
        try #expect(ForeignSQL.run(valid, at: #require(URL(string: url))) == [["1"]])
        try second.remove(opened)
      }
    }

    @Test("A statement that the server doesn't support isn't taken for another program's migration")
    func unsupported() throws {
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: try model())
        let info = try coordinator.addStore(.postgreSQL(url))
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        let error = persistError {
          _ = try store.pool.read { try $0.run(["SELECT 1 FROM pg_class GROUP BY () FOR UPDATE"]) }
        }
        #expect(error?.code == .serverFailed)
        #expect(error?.engineMessage?.contains("0A000") == true, "\(String(describing: error))")
        try coordinator.remove(info)
      }
    }
  }
#endif
