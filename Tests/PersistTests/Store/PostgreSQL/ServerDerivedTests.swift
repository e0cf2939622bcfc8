#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Triggers that compute values while another transaction changes what these are computed from.
  @Suite("Derived attributes on a server beside other writers", .needsServer)
  struct ServerDerivedTests {
    private static let description = ModelDescription(entities: [
      EntityDescription(
        "Author",
        attributes: [.init("name", .string), .init("total", .int64, derivation: "books.price.@sum")],
        relationships: [.init("books", toMany: "Book", inverse: "author")]),
      EntityDescription("City", attributes: [.init("name", .string)]),
      EntityDescription(
        "Publisher", attributes: [.init("name", .string)], relationships: [.init("city", to: "City")]),
      EntityDescription(
        "Tag", attributes: [.init("name", .string), .init("weight", .int64)],
        relationships: [.init("books", toMany: "Book", inverse: "tags")]),
      EntityDescription(
        "Book",
        attributes: [
          .init("name", .string), .init("price", .int64),
          .init("publisherName", .string, derivation: "publisher.name"),
          .init("cityName", .string, derivation: "publisher.city.name"),
          .init("weight", .int64, derivation: "tags.weight.@sum"),
        ],
        relationships: [
          .init("author", to: "Author", inverse: "books"), .init("publisher", to: "Publisher"),
          .init("tags", toMany: "Tag", inverse: "books"),
        ]),
    ])

    /// Runs code with a store of two books of an author and a publisher, two cities and a tag of no book.
    private func withBooks(_ body: (URL, PersistentStoreCoordinator) throws -> Void) throws {
      let model = try ManagedObjectModel(Self.description)
      try TestServer.withSchema { text in
        let coordinator = PersistentStoreCoordinator(model: model)
        let store = try coordinator.addStore(.postgreSQL(text))
        let context = ManagedObjectContext(coordinator)
        let cities = try ["x", "y"].map { try context.make("City", ["name": $0]) }
        let publisher = try context.make("Publisher", ["name": "old", "city": cities[0]])
        let author = try context.make("Author", ["name": "Ann"])
        try context.make("Tag", ["name": "t", "weight": 1])
        for name in ["a", "b"] {
          try context.make("Book", ["name": name, "price": 10, "author": author, "publisher": publisher])
        }
        try context.save()
        try body(#require(URL(string: text)), coordinator)
        try coordinator.remove(store)
      }
    }

    @Test("A program that writes with SQL has the same search path after a derived value was computed")
    func searchPath() throws {
      try withBooks { url, _ in
        let session = try ForeignSQL.Session(url)
        try session.run("SET search_path TO pg_catalog")
        let schema = try #require(ServerAddress(url)).schema
        try session.run("BEGIN")
        try session.run("UPDATE \"\(schema)\".book SET price = 7 WHERE name = 'a'")
        try #expect(session.run("SHOW search_path") == [["pg_catalog"]])
        try session.run("COMMIT")
        try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["17"]])
      }
    }

    @Test("Members that are saved together change their owner once, whatever their number is")
    func together() throws {
      try withBooks { url, coordinator in
        // Counts the updates of authors.
        try ForeignSQL.run(
          """
          CREATE TABLE changes (id bigint); CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS \
          'BEGIN INSERT INTO changes VALUES (NEW.id); RETURN NULL; END'; CREATE TRIGGER counted AFTER UPDATE OF total \
          ON author FOR EACH ROW EXECUTE FUNCTION count_change()
          """, at: url)
        func expectChanges(_ count: Int, _ change: () throws -> Void) throws {
          try ForeignSQL.run("DELETE FROM changes", at: url)
          try change()
          try #expect(ForeignSQL.run("SELECT count(*) FROM changes", at: url) == [["\(count)"]])
        }
        func expectOneChange(_ change: () throws -> Void) throws { try expectChanges(1, change) }
        let context = ManagedObjectContext(coordinator)
        let author = try #require(context.fetch(FetchRequest("Author")).first)
        for count in [10, 40, 2000] {
          let books = try (0..<count).map { try context.make("Book", ["price": $0, "author": author]) }
          try expectOneChange { try context.save() }
          let total = 20 + count * (count - 1) / 2
          try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["\(total)"]])
          for (price, book) in books.enumerated() { book["price"] = price + 1 }
          try expectOneChange { try context.save() }
          try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["\(total + count)"]])
          for book in books { book["name"] = "c" }
          try expectChanges(0) { try context.save() }
          for book in books { book["author"] = nil as ManagedObject? }
          try expectOneChange { try context.save() }
          try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["20"]])
          for book in books { book["author"] = author }
          try expectOneChange { try context.save() }
          for book in books { context.delete(book) }
          try expectOneChange { try context.save() }
          try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["20"]])
        }
      }
    }

    @Test("A sum includes the members that two programs change at the same time")
    func sums() throws {
      try withBooks { url, coordinator in
        try OtherWriter.run("UPDATE book SET price = 100 WHERE name = 'a'", at: url) {
          let context = ManagedObjectContext(coordinator)
          try context.named("Book", "b")["price"] = 200
          try context.save()
        }
        try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["300"]])
      }
    }

    @Test("A new object gets the value of another one that changes at the same time")
    func toOne() throws {
      try withBooks { url, coordinator in
        try OtherWriter.run("UPDATE publisher SET name = 'new'", at: url) {
          let context = ManagedObjectContext(coordinator)
          try context.make("Book", ["name": "c", "publisher": context.named("Publisher", "old")])
          try context.save()
        }
        try #expect(ForeignSQL.run("SELECT DISTINCT publisher_name FROM book", at: url) == [["new"]])
      }
    }

    @Test("A value over two relationships follows when one of them is set and its destination changes")
    func twoHops() throws {
      try withBooks { url, coordinator in
        let move = "UPDATE publisher SET city_id = (SELECT id FROM city WHERE name = 'y')"
        try OtherWriter.run(move, at: url) {
          let context = ManagedObjectContext(coordinator)
          try context.named("City", "y")["name"] = "z"
          try context.save()
        }
        try #expect(ForeignSQL.run("SELECT DISTINCT city_name FROM book", at: url) == [["z"]])
      }
    }

    @Test("A new member of a to-many relationship counts with the value that it gets at the same time")
    func pairs() throws {
      try withBooks { url, _ in
        let tables = "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND"
        let table = try #require(ForeignSQL.run("\(tables) column_name = 'tag_id'", at: url).first?.first)
        let pair = "SELECT book.id, tag.id FROM book, tag WHERE book.name = 'a'"
        // A save would lock the tag itself.
        try OtherWriter.run("UPDATE tag SET weight = 5", at: url) {
          try ForeignSQL.run("INSERT INTO \(table) (book_id, tag_id) \(pair)", at: url)
        }
        try #expect(ForeignSQL.run("SELECT weight FROM book WHERE name = 'a'", at: url) == [["5"]])
      }
    }

    // MARK: Versions

    private static let functions = """
      FROM pg_proc AS p WHERE p.pronamespace = current_schema()::regnamespace \
      AND starts_with(p.proname, 'persist_da_') ORDER BY p.proname
      """

    private func bodies(at url: URL) throws -> [String] {
      try ForeignSQL.run("SELECT p.prosrc \(Self.functions)", at: url).map { $0[0] }
    }

    /// Changes the functions of the triggers as another version of Persist would have made them.
    private func changeBodies(at url: URL, from end: String, to other: String) throws {
      for row in try ForeignSQL.run("SELECT pg_get_functiondef(p.oid) \(Self.functions)", at: url) {
        try ForeignSQL.run(row[0].replacing(end, with: other), at: url)
      }
    }

    private static let end = "END -- Persist \(ServerText.derivedVersion)"

    @Test("A role that doesn't own the tables uses triggers of an older version, but no store that lacks one")
    func otherRole() throws {
      try withBooks { url, coordinator in
        let model = coordinator.managedObjectModel
        let schema = try #require(ServerAddress(url)).schema
        let role = "writer_\(schema)"
        try ForeignSQL.run(
          "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
          "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)", at: url)
        defer { _ = try? ForeignSQL.run("DROP OWNED BY \(role)", "DROP ROLE \(role)", at: url) }
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.user = role
        let theirs = try #require(parts.url)
        let current = try bodies(at: url)
        try changeBodies(at: url, from: Self.end, to: "END")
        let older = try bodies(at: url)
        #expect(older != current)
        let writer = PersistentStoreCoordinator(model: model)
        let store = try writer.addStore(at: theirs)
        let context = ManagedObjectContext(writer)
        try context.named("Book", "a")["price"] = 100
        try context.save()
        try writer.remove(store)
        try #expect(ForeignSQL.run("SELECT total FROM author", at: url) == [["110"]])
        try #expect(bodies(at: url) == older)
        let triggers = try ForeignSQL.run(
          "SELECT tgname FROM pg_trigger WHERE tgrelid = 'book'::regclass AND tgname LIKE 'persist_da_%'", at: url)
        let trigger = try #require(triggers.first?.first)
        try ForeignSQL.run("ALTER TABLE book DISABLE TRIGGER \"\(trigger)\"", at: url)
        #expect(persistError { try writer.addStore(at: theirs) }?.code == .storeOpenFailed)
        let owner = PersistentStoreCoordinator(model: model)
        try owner.remove(owner.addStore(at: url))
        try #expect(bodies(at: url) == current)
        try writer.remove(writer.addStore(at: theirs))
      }
    }

    @Test("Triggers of a newer version of Persist remain when an older one opens the store")
    func newerVersion() throws {
      try withBooks { url, coordinator in
        try changeBodies(at: url, from: Self.end, to: "END -- Persist \(ServerText.derivedVersion + 1)")
        let newer = try bodies(at: url)
        #expect(!newer.contains { $0.hasSuffix(Self.end) })
        let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
        try other.remove(other.addStore(at: url))
        try #expect(bodies(at: url) == newer)
      }
    }
  }
#endif
