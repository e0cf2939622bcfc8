#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a row that the server's own constraints accept is read, and it is copied to a file, or a check names it
  /// in a sentence, and so does the error of the copy.
  @Suite("Rows that other programs write into a store on a server", .needsServer)
  struct ServerForeignRowTests {
    private static func shop() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Order",
            attributes: [
              .init("title", .string), .init("ratio", .double), .init("price", .decimal), .init("day", .date),
              .init("isPaid", .boolean), .init("token", .uuid), .init("small", .int16),
              .init("photo", .binary, allowsExternalStorage: true), .init("notes", .string, isIndexed: true),
            ],
            relationships: [
              .init("customer", to: "Person", inverse: "orders"), .init("seller", to: "Person", inverse: nil),
              .init("tags", toMany: "Tag", inverse: "orders", isOrdered: true),
            ]),
          EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [.init("orders", toMany: "Order", inverse: "customer", isOrdered: true)]),
          EntityDescription("Vip", parent: "Person", attributes: [.init("level", .int32)]),
          EntityDescription("Tag", relationships: [.init("orders", toMany: "Order", inverse: "tags")]),
          EntityDescription(
            "Team", attributes: [.init("name", .string)],
            relationships: [.init("members", toMany: "Person", inverse: nil)]),
          EntityDescription("Club", parent: "Team"),
          EntityDescription("Bill", attributes: [.init("number", .int64, isOptional: false)]),
        ]))
    }

    /// Opens a store with a few objects, in which others run statements. `VIP`, `CLUB` and so on are the keys of the
    /// objects.
    private func withRows(_ statements: [String], _ body: (URL, ManagedObjectContext) throws -> Void) throws {
      let model = try Self.shop()
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        var sql = statements
        for name in ["Vip", "Club", "Tag", "Order"] {
          let object = try context.make(name)
          try context.save()
          let key = try #require(object.objectID.primaryKey)
          sql = sql.map { $0.replacing(name.uppercased() + "_KEY", with: "\(key)") }
        }
        for row in try ForeignSQL.run("SELECT name, entity FROM persist_entity", at: url) {
          sql = sql.map { $0.replacing(row[0].uppercased() + "_NUMBER", with: row[1]) }
        }
        try ForeignSQL.run(sql, at: url)
        let second = PersistentStoreCoordinator(model: model)
        let again = try second.addStore(at: url)
        try body(url, ManagedObjectContext(second))
        try coordinator.remove(info)
        try second.remove(again)
      }
    }

    private func problems(_ url: URL) throws -> [String] {
      var found: [String] = []
      try checkStore(at: url) { found.append($0.detail) }
      return found
    }

    /// Reads every property of every object.
    private func readEverything(_ context: ManagedObjectContext) throws {
      for entity in context.persistentStoreCoordinator.managedObjectModel.entities {
        for object in try context.fetch(FetchRequest(entity.name)) {
          for property in object.entity.properties { _ = object[property.name] }
          _ = "\(object)"
        }
      }
    }

    /// Copies the store to a file.
    ///
    /// - Returns: The error; nil if it was copied with equal contents.
    private func copy(_ url: URL) throws -> PersistenceError? {
      try withTemporaryFolder { folder in
        let file = StoreLocation(folder.appendingPathComponent("Copy.sqlite"))
        let error = persistError { try StoreCopies.replaceStore(at: file, with: StoreLocation(url)) }
        guard error == nil else { return error }
        try #expect(storedContents(at: file) == storedContents(at: StoreLocation(url)))
        var found: [StoreProblem] = []
        try file.check(registry: nil) { found.append($0) }
        #expect(found.filter { !$0.isHarmless && $0.kind != .missingPosition } == [])
        return nil
      }
    }

    @Test(
      "They are read and copied with what the server knows",
      arguments: [
        "INSERT INTO \"order\" DEFAULT VALUES", "INSERT INTO \"order\" (title, entity) VALUES (NULL, ORDER_NUMBER)",
        "INSERT INTO \"order\" (customer_id) VALUES (VIP_KEY)", "INSERT INTO \"order\" (seller_id) VALUES (VIP_KEY)",
        "UPDATE \"order\" SET customer_id = VIP_KEY, seller_id = VIP_KEY",
        "INSERT INTO person (name, team_members_id) VALUES ('Ann', CLUB_KEY)",
        "INSERT INTO person (name, entity, level) VALUES ('Bob', VIP_NUMBER, 3)",
        "INSERT INTO order_tags (order_id, tag_id) VALUES (ORDER_KEY, TAG_KEY)",
        "INSERT INTO \"order\" (ratio) VALUES ('Infinity')",
        "INSERT INTO \"order\" (price, ratio) VALUES (12345678901234567890.123456789, 5e-324)",
        "INSERT INTO \"order\" (title) VALUES (repeat('é', 1000000))",
        "INSERT INTO \"order\" (photo) VALUES ('\\x0203'), ('\\x'), ('\\x0104'), ('\\xff'), (NULL)",
        "INSERT INTO \"order\" (is_paid, token, small) VALUES (true, gen_random_uuid(), -32768), (false, NULL, 0)",
      ])
    func copied(sql: String) throws {
      try withRows([sql]) { url, context in
        try readEverything(context)
        #expect(try copy(url) == nil)
        try #expect(problems(url).filter { !$0.contains("position") } == [])
      }
    }

    @Test("A reference without the number of the entity leads to the object, also back and in a file")
    func destinations() throws {
      try withRows([
        "INSERT INTO \"order\" (title, customer_id, seller_id) VALUES ('a', VIP_KEY, VIP_KEY)",
        "UPDATE person SET name = 'Vip', team_members_id = CLUB_KEY",
      ]) { url, context in
        func expectObjects(_ context: ManagedObjectContext) throws {
          let order = try #require(context.fetch(FetchRequest<ManagedObject>("Order", where: "title == 'a'")).first)
          for name in ["customer", "seller"] {
            let person = try #require(order[name] as? ManagedObject)
            #expect(person.entity.name == "Vip" && person["name"] as? String == "Vip")
          }
          let vip = try #require(context.fetch(FetchRequest<ManagedObject>("Vip")).first)
          #expect(try vip.objectIDs(forRelationshipNamed: "orders") == [order.objectID])
          let club = try #require(context.fetch(FetchRequest<ManagedObject>("Club")).first)
          #expect(try club.objectIDs(forRelationshipNamed: "members") == [vip.objectID])
        }
        try expectObjects(context)
        try withTemporaryFolder { folder in
          let file = StoreLocation(folder.appendingPathComponent("Copy.sqlite"))
          try StoreCopies.replaceStore(at: file, with: StoreLocation(url))
          let coordinator = PersistentStoreCoordinator(model: try Self.shop())
          try coordinator.addStore(file)
          try expectObjects(ManagedObjectContext(coordinator))
        }
        // A save completes the row.
        let order = try #require(context.fetch(FetchRequest<ManagedObject>("Order", where: "title == 'a'")).first)
        order["title"] = "b"
        order["customer"] = try context.fetch(FetchRequest<ManagedObject>("Vip")).first
        try context.save()
        try #expect(problems(url).filter { !$0.contains("position") } == [])
      }
    }

    @Test(
      "A check names what Persist can't represent, and a copy either leaves it out or is refused with a sentence",
      arguments: [
        ("INSERT INTO \"order\" (ratio) VALUES ('NaN')", "NaN"), ("INSERT INTO \"order\" (day) VALUES ('NaN')", "NaN"),
        ("INSERT INTO \"order\" (price) VALUES ('NaN')", "NaN"),
        ("INSERT INTO \"order\" (price) VALUES (1e130)", "1000"),
        ("INSERT INTO person (entity) VALUES (99)", "99"), ("INSERT INTO person (entity) VALUES (NULL)", "no entity number"),
        ("INSERT INTO \"order\" (day) VALUES ('-Infinity')", "-Infinity"),
        ("INSERT INTO person (entity) VALUES (ORDER_NUMBER)", "belongs to another entity"),
        ("INSERT INTO bill DEFAULT VALUES", "is required and has no value"),
        ("INSERT INTO \"order\" (customer_id, customer_entity) VALUES (VIP_KEY, PERSON_NUMBER)", "entity number"),
      ])
    func named(sql: String, word: String) throws {
      try withRows([sql]) { url, context in
        try readEverything(context)
        let problems = try problems(url)
        #expect(problems.contains { $0.contains(word) }, "\(problems)")
        try withTemporaryFolder { folder in
          let file = StoreLocation(folder.appendingPathComponent("Copy.sqlite"))
          let error = persistError { try StoreCopies.replaceStore(at: file, with: StoreLocation(url)) }
          if let error { #expect(error.code != .sqlite && error.engineMessage == nil, "\(error)") }
        }
      }
    }

    @Test("Texts that are too long for an index are refused by the server itself")
    func longTexts() throws {
      try withRows([]) { url, context in
        #expect(throws: ForeignSQL.Failure.self) {
          let text = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 500) AS s(n))"
          try ForeignSQL.run("INSERT INTO \"order\" (notes) VALUES (\(text))", at: url)
        }
        try readEverything(context)
      }
    }
  }
#endif
