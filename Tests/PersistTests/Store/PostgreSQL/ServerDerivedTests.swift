#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist

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
      try withBooks { url, coordinator in
        try OtherWriter.run("UPDATE tag SET weight = 5", at: url) {
          let context = ManagedObjectContext(coordinator)
          try context.named("Book", "a").many("tags").insert(context.named("Tag", "t"))
          try context.save()
        }
        try #expect(ForeignSQL.run("SELECT weight FROM book WHERE name = 'a'", at: url) == [["5"]])
      }
    }
  }
#endif
