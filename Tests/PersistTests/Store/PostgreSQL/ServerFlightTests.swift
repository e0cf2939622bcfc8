#if canImport(PersistPostgreSQL)
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The numbers of round trips, which decide the speed of a program far from its server.
  @Suite("Round trips to a server", .needsServer)
  struct ServerFlightTests {
    private static let count = 1000

    /// Runs code with a store of one box and many items with three many-to-many relationships.
    private func withItems(_ body: (Stack) throws -> Void) throws {
      let tags = ["a", "b", "c"]
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Box",
            relationships: [
              .init("items", toMany: "Item", inverse: "box", deleteRule: .cascade),
              .init("guests", toMany: "Item", inverse: "host"),
            ]),
          EntityDescription(
            "Item", attributes: [.init("number", .int64)],
            relationships: [.init("box", to: "Box", inverse: "items"), .init("host", to: "Box", inverse: "guests")]
              + tags.map { .init($0, toMany: "Tag", inverse: "\($0)Items") }),
          EntityDescription(
            "Tag", relationships: tags.map { .init("\($0)Items", toMany: "Item", inverse: $0) }),
        ]))
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(.postgreSQL(url))
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        let stack = Stack(coordinator: coordinator, address: store.pool.address)
        let context = stack.context()
        let box = try context.make("Box"), all = try tags.map { _ in try context.make("Tag") }
        for number in 0..<Self.count {
          try context.make(
            "Item",
            ["number": number, "box": box, "host": box, "a": [all[number % 3]], "b": [all[0]], "c": [all[1], all[2]]])
        }
        try stack.expect(atMost: 5) { try context.save() }
        try body(stack)
        try coordinator.remove(info)
      }
    }

    private struct Stack {
      let coordinator: PersistentStoreCoordinator
      let address: ServerAddress

      func context() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

      func expect(atMost limit: Int, _ body: () throws -> Void) throws {
        let before = CountedServer.flights(of: address)
        try body()
        let count = CountedServer.flights(of: address) - before
        #expect(count <= limit, "\(count) flights")
      }
    }

    @Test("An insertion takes one for new keys and one to write, and an update one to lock and one to write")
    func writing() throws {
      try withItems { stack in
        let context = stack.context()
        let items = try (0..<Self.count).map { try context.make("Item", ["number": $0]) }
        try stack.expect(atMost: 2) { try context.save() }
        for item in items { item["number"] = -1 }
        try stack.expect(atMost: 2) { try context.save() }
        items[0]["number"] = 3
        try stack.expect(atMost: 1) { try context.save() }
        for item in items { context.delete(item) }
        try stack.expect(atMost: 2) { try context.save() }
      }
    }

    @Test("A cascade over many objects with three many-to-many relationships takes a few")
    func cascade() throws {
      try withItems { stack in
        let context = stack.context()
        try stack.expect(atMost: 20) {
          context.delete(try context.fetch(FetchRequest("Box"))[0])
          try context.save()
        }
        try #expect(stack.context().count(for: FetchRequest("Item")) == 0)
      }
    }

    @Test("Deletions that nullify many references or end many-to-many relationships take a few")
    func nullify() throws {
      try withItems { stack in
        let context = stack.context()
        try stack.expect(atMost: 20) {
          for tag in try context.fetch(FetchRequest("Tag")) { context.delete(tag) }
          try context.save()
        }
        let box = try context.fetch(FetchRequest("Box"))[0]
        for item in try context.fetch(FetchRequest("Item")) { item["box"] = nil as ManagedObject? }
        try context.save()
        let other = stack.context()
        try stack.expect(atMost: 10) {
          other.delete(try other.existingObject(with: box.objectID))
          try other.save()
        }
        try #expect(stack.context().count(for: FetchRequest("Item", where: "host == nil")) == Self.count)
      }
    }

    @Test("Members of many owners are counted, added and removed in groups")
    func members() throws {
      try withItems { stack in
        // Rows read ahead are used only for some milliseconds, which a busy machine spends on few owners.
        let counting = stack.context()
        try stack.expect(atMost: Self.count / 10) {
          for item in try counting.fetch(FetchRequest("Item")) { try #expect(item.related("c").count == 2) }
        }
        for isAdded in [true, false] {
          let context = stack.context()
          try stack.expect(atMost: Self.count / 4) {
            let tags = try context.fetch(FetchRequest("Tag"))
            for item in try context.fetch(FetchRequest("Item")) {
              for name in ["a", "b", "c"] {
                for tag in tags {
                  if isAdded { try item.related(name).insert(tag) } else { try item.related(name).remove(tag) }
                }
              }
            }
            try context.save()
          }
          let reader = stack.context()
          for item in try reader.fetch(FetchRequest("Item")) {
            try #expect(item.related("b").count == (isAdded ? 3 : 0))
          }
        }
      }
    }

    @Test("The orders of many owners are read and written with a statement for each relationship")
    func orders() throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "List", attributes: [.init("number", .int64)],
            relationships: [
              .init("rows", toMany: "Row", inverse: "list", isOrdered: true),
              .init("marks", toMany: "Row", inverse: "lists", isOrdered: true),
            ]),
          EntityDescription(
            "Row", attributes: [.init("number", .int64)],
            relationships: [
              .init("list", to: "List", inverse: "rows"),
              .init("lists", toMany: "List", inverse: "marks", isOrdered: true),
            ]),
        ]))
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(.postgreSQL(url))
        let address = try #require(coordinator.openStores[0] as? PostgreSQLStore).pool.address
        var random = SeededRandom(seed: 46)
        var expected: [[String: [Int]]] = []
        func save(_ context: ManagedObjectContext) throws {
          let before = CountedServer.statements(of: address).count
          try context.save()
          let counts = CountedServer.statements(of: address).dropFirst(before)
          #expect(counts.reduce(0, +) < 40 && counts.count <= 5, "\(counts)")
        }
        let context = ManagedObjectContext(coordinator)
        let rows = try (0..<600).map { try context.make("Row", ["number": $0]) }
        let lists = try (0..<200).map { try context.make("List", ["number": $0]) }
        func arrange(_ lists: [ManagedObject], _ rows: [ManagedObject]) {
          expected = lists.indices.map { number in
            let own = rows[number * 3..<number * 3 + 3].shuffled(using: &random)
            let marks = rows.shuffled(using: &random).prefix(4)
            lists[number]["rows"] = own
            lists[number]["marks"] = Array(marks)
            return [
              "rows": own.compactMap { $0["number"] as? Int }, "marks": marks.compactMap { $0["number"] as? Int },
            ]
          }
        }
        func orders(_ context: ManagedObjectContext) throws -> [[String: [Int]]] {
          try context.fetch(FetchRequest<ManagedObject>("List", sortedBy: "number")).map { list in
            try Dictionary(uniqueKeysWithValues: ["rows", "marks"].map { name in
              (name, try list.related(name).compactMap { $0["number"] as? Int })
            })
          }
        }
        arrange(lists, rows)
        try save(context)
        try #expect(orders(ManagedObjectContext(coordinator)) == expected)
        let other = ManagedObjectContext(coordinator)
        let found = try other.fetch(FetchRequest<ManagedObject>("List", sortedBy: "number"))
        arrange(found, try other.fetch(FetchRequest<ManagedObject>("Row", sortedBy: "number")))
        try save(other)
        try #expect(orders(ManagedObjectContext(coordinator)) == expected)
        try coordinator.remove(info)
      }
    }
  }
#endif
