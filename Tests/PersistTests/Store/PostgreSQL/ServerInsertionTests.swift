#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Insertions of many objects, which are copied into their table, and rows that others insert by SQL.
  @Suite("Insertions on a server", .needsServer)
  struct ServerInsertionTests {
    private static func description(_ comment: String = "What is sold.") -> ModelDescription {
      var shop = RelationshipDescription("shop", to: "Shop", inverse: "items")
      shop.userInfo = ["comment": "The seller."]
      return ModelDescription(entities: [
        EntityDescription(
          "Item", userInfo: ["comment": comment],
          attributes: [
            .init("name", .string, userInfo: ["comment": "As it's printed."]), .init("price", .decimal),
            .init("weight", .double), .init("isNew", .boolean), .init("born", .date), .init("token", .uuid),
            .init("photo", .binary), .init("count", .int32), .init("loud", .string, derivation: "uppercase:(name)"),
          ],
          relationships: [shop]),
        EntityDescription(
          "Shop", attributes: [.init("name", .string)],
          relationships: [.init("items", toMany: "Item", inverse: "shop", isOrdered: true)]),
        EntityDescription("Thing", isAbstract: true, attributes: [.init("size", .int64)]),
        EntityDescription("Box", parent: "Thing"),
      ])
    }

    private func open(_ url: URL, _ description: ModelDescription = Self.description()) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(description))
      try coordinator.addStore(at: url, options: .automaticMigration)
      return ManagedObjectContext(coordinator)
    }

    private func withStore(_ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try body(url)
      }
    }

    private static let decimals = [
      "0", "1", "-1", "0.5", "-0.0001", "9999", "10000", "10001.0001", "12345678901234567890.123456789", "100000000",
      "0.00000000000000001", "-99999999.99999999", "1000000000000000000000000",
    ]

    private func values(_ number: Int) -> [String: Any] {
      var random = SeededRandom(seed: UInt64(number + 1))
      var values: [String: Any] = ["count": number]
      let digits = Self.decimals[number % Self.decimals.count]
      if number % 7 != 0 { values["price"] = Decimal(string: digits) }
      if number % 3 != 0 { values["name"] = ["é", "", "a\tb\n", "\\N", "𝄞"][number % 5] + "\(number)" }
      if number % 4 != 0 { values["weight"] = Double(number) / 7 }
      if number % 5 != 0 { values["isNew"] = number % 2 == 0 }
      if number % 6 != 0 { values["born"] = Date(timeIntervalSinceReferenceDate: Double(number) * 1234.5) }
      if number % 8 != 0 {
        values["photo"] = Data((0..<number % 50).map { _ in UInt8.random(in: .min ... .max, using: &random) })
      }
      return values
    }

    private func words(_ objects: [ManagedObject]) -> [String] {
      objects.map { object in
        ["name", "price", "weight", "isNew", "born", "photo", "loud"].map { name in
          switch object[name] {
          case let data as Data: data.map { "\($0)" }.joined(separator: " ")
          case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
          case let value: value.map { "\($0)" } ?? "nil"
          }
        }.joined(separator: "|")
      }
    }

    @Test("Every value that is copied is the one that is inserted, in the order of its members too")
    func copying() throws {
      // The first save copies its rows, the others insert theirs.
      func stored(inSavesOf size: Int) throws -> ([String], [String]) {
        var found: ([String], [String]) = ([], [])
        try withStore { url in
          let context = try open(url)
          let shop = try context.make("Shop", ["name": "S"])
          for start in stride(from: 0, to: 2600, by: size) {
            for number in start..<min(start + size, 2600) {
              let item = try context.make("Item", ["shop": shop])
              for (name, value) in values(number) { item[name] = value }
            }
            try context.save()
          }
          let reader = try open(url)
          let items = try reader.fetch(FetchRequest("Item", sortedBy: "count"))
          let members = try reader.fetch(FetchRequest("Shop"))[0].many("items").map { "\($0["count"] ?? "")" }
          found = (words(items), members)
          let rows = try ForeignSQL.run("SELECT price::text FROM item ORDER BY count", at: url)
          for (number, row) in rows.enumerated() where number % 7 != 0 {
            #expect(Decimal(string: row[0]) == Decimal(string: Self.decimals[number % Self.decimals.count]))
          }
        }
        return found
      }
      let (copied, inserted) = (try stored(inSavesOf: 2600), try stored(inSavesOf: 200))
      #expect(copied.0 == inserted.0)
      #expect(copied.1 == inserted.1)
      #expect(copied.1.count == 2600)
    }

    @Test("Statements have a limited size, whatever the sizes of their values")
    func largeValues() throws {
      try withStore { url in
        let context = try open(url)
        let address = try #require(ServerAddress(url))
        func statements(of save: () throws -> Void) rethrows -> Int {
          let before = CountedServer.statements(of: address).count
          try save()
          return CountedServer.statements(of: address).dropFirst(before).reduce(0, +)
        }
        var counts: [Int] = []
        // The first save has statements that others don't need; each takes one block of keys.
        for size in [1, 1, 5 << 18] {
          let items = try (0..<64).map { try context.make("Item", ["count": $0, "photo": Data(count: size)]) }
          counts.append(try statements { try context.save() })
          for item in items { item["photo"] = Data(repeating: 1, count: size) }
          counts.append(try statements { try context.save() })
        }
        #expect(counts[4] == counts[2] + 1 && counts[5] == counts[3] + 1, "\(counts)")
        let sizes = try ForeignSQL.run("SELECT sum(octet_length(photo)), sum(get_byte(photo, 0)) FROM item", at: url)
        #expect(sizes == [["\(128 + 320 << 18)", "192"]], "\(sizes)")
      }
    }

    @Test("A row that can't be copied fails the save with its name, and nothing is stored")
    func violation() throws {
      try withStore { url in
        let model = ModelDescription(entities: [
          EntityDescription("Item", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        ])
        let context = try open(url, model)
        for number in 0..<1500 { try context.make("Item", ["name": "\(number)"]) }
        try context.save()
        for number in 1400..<4000 { try context.make("Item", ["name": "\(number)"]) }
        let error = persistError { try context.save() }
        #expect(error?.code == .constraintConflict)
        #expect(error?.message.hasPrefix("100 values") == true, "\(String(describing: error))")
        try #expect(ForeignSQL.run("SELECT count(*) FROM item", at: url) == [["1500"]])
        // The context goes on.
        context.rollback()
        try context.make("Item", ["name": "last"])
        try context.save()
      }
    }

    @Test("Where a policy restricts the rows of a user, many are inserted too")
    func policy() throws {
      try withStore { url in
        let schema = try #require(ServerAddress(url)).schema
        let role = "policy_\(schema)"
        _ = try open(url)
        try ForeignSQL.run(
          "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
          "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)",
          "ALTER TABLE item ENABLE ROW LEVEL SECURITY", "CREATE POLICY own ON item USING (count >= 0)", at: url)
        defer { _ = try? ForeignSQL.run("DROP OWNED BY \(role)", "DROP ROLE \(role)", at: url) }
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.user = role
        let context = try open(#require(parts.url))
        for number in 0..<2600 { try context.make("Item", ["count": number]) }
        try context.save()
        try #expect(ForeignSQL.run("SELECT count(*) FROM item", at: url) == [["2600"]])
      }
    }

    @Test("A row that SQL inserts without a key is an object, and no key is used twice")
    func defaultKeys() throws {
      try withStore { url in
        let context = try open(url)
        for round in 0..<3 {
          try ForeignSQL.run("INSERT INTO item (name) VALUES ('by SQL \(round)')", at: url)
          for number in 0..<70 { try context.make("Item", ["name": "object \(round) \(number)"]) }
          try context.save()
        }
        var request = FetchRequest("Item", sortedBy: "name")
        request.predicate = try FetchPredicate("name BEGINSWITH 'by SQL'")
        let found = try open(url).fetch(request)
        #expect(found.map { $0["name"] as? String } == ["by SQL 0", "by SQL 1", "by SQL 2"])
        #expect(found.map { $0["loud"] as? String } == ["BY SQL 0", "BY SQL 1", "BY SQL 2"])
        found[0]["count"] = 5
        try found[0].managedObjectContext?.save()
        try #expect(ForeignSQL.run("SELECT count(DISTINCT id) FROM item", at: url) == [["213"]])
        // A row of an abstract entity would be no object: the entity must be named.
        try ForeignSQL.run("INSERT INTO thing (size) VALUES (1)", at: url)
        let boxes = try ForeignSQL.run("SELECT entity FROM persist_entity WHERE name = 'Box'", at: url)[0][0]
        try ForeignSQL.run("INSERT INTO thing (entity, size) VALUES (\(boxes), 2)", at: url)
        try #expect(open(url).fetch(FetchRequest("Thing")).map { $0["size"] as? Int } == [2])
      }
    }

    @Test("Default keys and comments follow migrations in place and by copy", arguments: [false, true])
    func migration(copies: Bool) throws {
      try withStore { url in
        _ = try open(url)
        let sql = """
          SELECT coalesce(obj_description('item'::regclass), ''), \
          (SELECT string_agg(attname || ': ' || col_description(attrelid, attnum), ', ' ORDER BY attname) \
          FROM pg_attribute WHERE attrelid = 'item'::regclass AND attnum > 0 AND NOT attisdropped)
          """
        try #expect(ForeignSQL.run(sql, at: url) == [["What is sold.", "name: As it's printed., shop_id: The seller."]])
        // A comment of others remains.
        try ForeignSQL.run("COMMENT ON COLUMN item.weight IS 'kg'", at: url)
        var newer = Self.description("What is 'sold'.")
        newer.entities.insert(EntityDescription("Aardvark"), at: 0)
        newer.entities[1].attributes.append(.init("note", .string, userInfo: ["comment": "New."]))
        let registry = ModelRegistry(versions: [
          ModelVersion(name: "1", model: try ManagedObjectModel(Self.description())),
          ModelVersion(name: "2", model: try ManagedObjectModel(newer)),
        ])
        try ForeignSQL.run("INSERT INTO item (name) VALUES ('before')", at: url)
        try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: registry.versions[1], registry: registry)
        let weight = copies ? "" : ", weight: kg"
        try #expect(
          ForeignSQL.run(sql, at: url) == [
            ["What is 'sold'.", "name: As it's printed., note: New., shop_id: The seller.\(weight)"]
          ])
        try ForeignSQL.run("INSERT INTO item (name) VALUES ('after')", at: url)
        let context = try open(url, newer)
        let names = try context.fetch(FetchRequest("Item", sortedBy: "name")).map { $0["name"] as? String }
        #expect(names == ["after", "before"])
      }
    }

    @Test("A schema that an administrator made is used by a role that may not create schemas")
    func givenSchema() throws {
      try withStore { url in
        let schema = try #require(ServerAddress(url)).schema
        let role = "owner_\(schema)"
        try ForeignSQL.run(
          "CREATE ROLE \(role) LOGIN", "CREATE SCHEMA \(schema)", "GRANT USAGE, CREATE ON SCHEMA \(schema) TO \(role)",
          at: url)
        defer { _ = try? ForeignSQL.run("DROP OWNED BY \(role)", "DROP ROLE \(role)", at: url) }
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.user = role
        let context = try open(#require(parts.url))
        try context.make("Item", ["name": "first"])
        try context.save()
        try #expect(context.count(for: FetchRequest("Item")) == 1)
      }
    }
  }
#endif
