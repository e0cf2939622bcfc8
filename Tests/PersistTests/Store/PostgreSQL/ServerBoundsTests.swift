#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Predicates that exceed what the server parses or plans are evaluated in memory, with the same results.
  @Suite("Bounds of statements on a server", .needsServer)
  struct ServerBoundsTests {
    private static let description = ModelDescription(entities: [
      EntityDescription(
        "Item", attributes: [.init("number", .int64), .init("price", .double), .init("name", .string)],
        relationships: [.init("tags", toMany: "Tag", inverse: "items"), .init("next", to: "Item", inverse: "previous"),
                        .init("previous", to: "Item", inverse: "next")]),
      EntityDescription(
        "Tag", attributes: [.init("label", .string)], relationships: [.init("items", toMany: "Item", inverse: "tags")]),
    ])

    private func withItems(_ body: (ManagedObjectContext, PostgreSQLStore) throws -> Void) throws {
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.description))
        try coordinator.addStore(.postgreSQL(url))
        let context = ManagedObjectContext(coordinator)
        let tags = try (0..<3).map { try context.make("Tag", ["label": "t\($0)"]) }
        var last: ManagedObject?
        for number in 0..<20 {
          let item = try context.make(
            "Item", ["number": number, "price": Double(number) + 0.5, "name": "n\(number)", "previous": last])
          try item.many("tags").insert(tags[number % 3])
          last = item
        }
        try context.save()
        try body(ManagedObjectContext(coordinator), #require(coordinator.openStores[0] as? PostgreSQLStore))
      }
    }

    /// Checks that a predicate finds the same objects by the store as among all objects in memory.
    private func expectSame(
      _ predicate: FetchPredicate, inMemory: Bool, _ context: ManagedObjectContext, _ store: PostgreSQLStore,
      _ place: SourceLocation = #_sourceLocation
    ) throws {
      let entity = try store.model.entity(named: "Item")
      let division = try store.divide(predicate, over: entity)
      #expect((division.rest != nil) == inMemory, sourceLocation: place)
      var request = FetchRequest("Item", sortedBy: "number")
      let all = try context.fetch(request)
      request.predicate = predicate
      let found = try context.fetch(request)
      let expected = try all.filter { try predicate.evaluate(with: $0) }
      #expect(found == expected, sourceLocation: place)
      try #expect(context.count(for: request) == expected.count, sourceLocation: place)
    }

    @Test("Lists of constants: up to 30,000 parameters", arguments: [(100, false), (29_000, false), (70_000, true)])
    func constants(count: Int, inMemory: Bool) throws {
      try withItems { context, store in
        let prices = (0..<count).map { Double($0 * 2) + 0.5 }
        try expectSame(FetchPredicate("price IN %@", prices), inMemory: inMemory, context, store)
        // Integers and texts are one parameter.
        try expectSame(FetchPredicate("number IN %@", Array(0..<count)), inMemory: false, context, store)
        try expectSame(FetchPredicate("name IN %@", (0..<count).map { "n\($0 * 3)" }), inMemory: false, context, store)
      }
    }

    @Test("Conjunctions whose parts have together too many parameters are divided")
    func conjunctions() throws {
      try withItems { context, store in
        let prices = (0..<20_000).map { Double($0) + 0.5 }
        let predicate = FetchPredicate.and([
          try FetchPredicate("price IN %@", prices), try FetchPredicate("NOT price IN %@", Array(prices[5..<20_000])),
          try FetchPredicate("number > 1"),
        ])
        let division = try store.divide(predicate, over: store.model.entity(named: "Item"))
        #expect(division.stored != nil && division.rest != nil)
        try expectSame(predicate, inMemory: true, context, store)
      }
    }

    @Test("Many conditions on related objects", arguments: [(50, false), (150, true)])
    func subqueries(count: Int, inMemory: Bool) throws {
      try withItems { context, store in
        let parts = try (0..<count).map { try FetchPredicate("ANY tags.label == %@", "t\($0)") }
        try expectSame(.or(parts), inMemory: inMemory, context, store)
      }
    }

    @Test("Conditions nested in each other", arguments: [(5, false), (45, true)])
    func nesting(depth: Int, inMemory: Bool) throws {
      try withItems { context, store in
        var predicate = try FetchPredicate("number == 3")
        for number in 0..<depth {
          let either = FetchPredicate.or([predicate, try FetchPredicate("number == %@", number % 7)])
          predicate = .and([either, .not(try FetchPredicate("name == 'x'"))])
          if number % 2 == 0 { predicate = .not(predicate) }
        }
        // The top conjunction is divided anyway.
        try expectSame(.or([predicate, try FetchPredicate("number == 19")]), inMemory: inMemory, context, store)
      }
    }

    @Test("Saves and reads with a wait of any length, and more readers than connections")
    func waits() throws {
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.description))
        try coordinator.addStore(.postgreSQL(url), options: StoreOptions(busyTimeout: .seconds(Int64.max)))
        let context = ManagedObjectContext(coordinator)
        try context.make("Item", ["number": 1])
        try context.save()
        let counts = LockProtected<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 24) { _ in
          let count = try? ManagedObjectContext(coordinator).count(for: FetchRequest("Item", where: "number == 1"))
          counts.withLock { $0.append(count ?? -1) }
        }
        #expect(counts.withLock { $0 } == Array(repeating: 1, count: 24))
      }
    }

    @Test("Many rows at once: fetches, saves, batches and deletions by key")
    func rows() throws {
      try withItems { context, _ in
        for number in 100..<40_100 { try context.make("Item", ["number": number]) }
        try context.save()
        let ids = try context.fetchObjectIDs(FetchRequest("Item", where: "number >= 100"))
        #expect(ids.count == 40_000)
        try #expect(context.count(for: FetchRequest("Item", where: "SELF IN %@", ids)) == 40_000)
        #expect(try context.execute(BatchDeleteRequest("Item", objectIDs: ids)).count == 40_000)
        try #expect(context.count(for: FetchRequest("Item")) == 20)
      }
    }
  }
#endif
