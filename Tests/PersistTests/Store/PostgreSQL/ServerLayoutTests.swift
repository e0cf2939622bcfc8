#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The tables that people see who use a store on a server with SQL.
  @Suite("Layout of a store on a server", .needsServer)
  struct ServerLayoutTests {
    private static func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
      ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
    }

    private func withStore(_ version: ModelVersion, _ body: (URL, ManagedObjectContext) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: version.model)
        try coordinator.addStore(at: url)
        try body(url, ManagedObjectContext(coordinator))
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }

    private func columns(of table: String, _ url: URL) throws -> [String] {
      try ForeignSQL.run(
        """
        SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() \
        AND table_name = '\(table)' ORDER BY column_name
        """, at: url
      ).map { $0[0] }
    }

    @Test("Tables, columns, indexes and sequences have the model's names in snake case")
    func names() throws {
      let version = try Self.version(
        "1",
        EntityDescription(
          "OrderLine", attributes: [.init("firstName", .string, isIndexed: true), .init("id", .uuid)],
          relationships: [
            .init("order", to: "Order", inverse: "lines"), .init("tags", toMany: "Tag", inverse: "lines"),
          ], uniquenessConstraints: [["id"]]),
        EntityDescription(
          "Order", relationships: [.init("lines", toMany: "OrderLine", inverse: "order", isOrdered: true)]),
        EntityDescription("Tag", relationships: [.init("lines", toMany: "OrderLine", inverse: "tags")]))
      try withStore(version) { url, context in
        let tea = try context.make("OrderLine", ["firstName": "Tea", "id": UUID()])
        let order = try context.make("Order", ["lines": [tea]])
        tea["tags"] = Set([try context.make("Tag", [:])])
        try context.save()
        let own = ["entity", "id", "version"]
        let line = own + ["first_name", "id_2", "order_id", "order_place"]
        try #expect(columns(of: "order_line", url) == line.sorted())
        try #expect(columns(of: "order_line_tags", url) == ["order_line_id", "tag_id"])
        let names = try ForeignSQL.run(
          """
          SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
          AND relkind IN ('r', 'i', 'S') AND relname NOT LIKE 'persist\\_%' ORDER BY relname COLLATE "C"
          """, at: url
        ).map { $0[0] }
        #expect(
          names == [
            "order", "order_id_seq", "order_line", "order_line_first_name_index", "order_line_id_seq",
            "order_line_id_unique", "order_line_order_id_index", "order_line_pkey", "order_line_tags",
            "order_line_tags_pkey", "order_line_tags_tag_id_index", "order_pkey", "tag", "tag_id_seq", "tag_pkey",
          ])
        let joined = """
          SELECT l.first_name, o.id, e.name FROM order_line AS l JOIN "order" AS o ON o.id = l.order_id \
          JOIN persist_entity AS e ON e.entity = o.entity JOIN order_line_tags AS t ON t.order_line_id = l.id
          """
        let key = try #require(order.objectID.primaryKey)
        try #expect(ForeignSQL.run(joined, at: url) == [["Tea", "\(key)", "Order"]])
        // None of the names needs quotes, except words of SQL.
        try ForeignSQL.run("INSERT INTO order_line (first_name, order_id) VALUES ('by SQL', \(key))", at: url)
        #expect(try context.count(for: FetchRequest<ManagedObject>("OrderLine", where: "order == %@", order)) == 2)
      }
    }

    @Test(
      "A property that is renamed only in case, or to the name of another one, keeps its values",
      arguments: [true, false])
    func renamedInCase(copies: Bool) throws {
      func item(_ first: String, _ second: String, renaming: Bool) -> EntityDescription {
        EntityDescription(
          renaming ? "lineItem" : "LineItem", renamingIdentifier: renaming ? "LineItem" : nil,
          attributes: [
            .init(first, .string, renamingIdentifier: renaming ? "fullName" : nil),
            .init(second, .string, renamingIdentifier: renaming ? "full_name" : nil),
            .init(renaming ? "Size" : "size", .int64, renamingIdentifier: renaming ? "size" : nil),
          ])
      }
      let versions = [
        try Self.version("1", item("fullName", "full_name", renaming: false)),
        try Self.version("2", item("full_name", "fullName", renaming: true)),
      ]
      try withStore(versions[0]) { url, context in
        try context.make("LineItem", ["fullName": "first", "full_name": "second", "size": 3])
        try context.save()
        let registry = ModelRegistry(versions: versions)
        let report = try AutomaticMigrator(alwaysCopies: copies).migrate(
          storeAt: url, to: versions[1], registry: registry)
        #expect(report.way == (copies ? .copy : .inPlace))
        let coordinator = PersistentStoreCoordinator(model: versions[1].model)
        try coordinator.addStore(at: url)
        let second = ManagedObjectContext(coordinator)
        let found = try second.fetch(FetchRequest<ManagedObject>("lineItem"))
        #expect(found.map { $0["full_name"] as? String } == ["first"])
        #expect(found.map { $0["fullName"] as? String } == ["second"])
        #expect(found.map { $0["Size"] as? Int } == [3])
        let location = StoreLocation(url)
        #expect(try location.engine.identifyStore(at: location, registry: nil).tableMap.differences == [])
      }
    }

    @Test("Rows of entities and columns with the names that statements use themselves are read and written")
    func namesOfStatements() throws {
      let names = [
        "k", "c0", "u", "t", "r0", "n", "owner", "member", "place", "row", "key", "rowid", "user", "select", "count",
      ]
      let version = try Self.version(
        "1",
        EntityDescription(
          "Pairs", attributes: names.map { .init($0, .string) }, relationships: [
            .init("old", to: "New", inverse: "there"), .init("m", toMany: "New", inverse: "o", isOrdered: true),
          ], uniquenessConstraints: [["k"]]),
        EntityDescription(
          "New", relationships: [
            .init("there", toMany: "Pairs", inverse: "old", isOrdered: true), .init("o", toMany: "Pairs", inverse: "m"),
          ]))
      try withStore(version) { url, context in
        let new = try context.make("New", [:])
        let pairs = try (0..<3).map { number in
          let object = try context.make("Pairs", [:])
          for name in names { object[name] = "\(name) \(number)" }
          return object
        }
        new["there"] = pairs
        new["o"] = Set(pairs)
        try context.save()
        pairs[1]["owner"] = "changed"
        pairs[2]["k"] = "k 7"
        try context.save()
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.execute(BatchInsertRequest("Pairs", [["k": "k 0", "owner": "upserted"], ["k": "k 9"]]))
        let again = PersistentStoreCoordinator(model: version.model)
        try again.addStore(at: url)
        let second = ManagedObjectContext(again)
        let fetched = try second.fetch(FetchRequest("Pairs", sortedBy: [FetchSortDescriptor("k")]))
        #expect(fetched.map { $0["owner"] as? String } == ["upserted", "changed", "owner 2", nil])
        #expect(fetched.map { ($0["old"] as? ManagedObject) != nil } == [true, true, true, false])
        #expect(fetched[0]["select"] as? String == "select 0")
      }
    }
  }
#endif
