#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Keys that other programs give to rows, among those that a running program has for its next objects.
  @Suite("Keys in use by other programs", .needsServer)
  struct ServerKeyTests {
    private func open(_ url: URL) throws -> PersistentStoreCoordinator {
      let item = EntityDescription("Item", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
      let coordinator = PersistentStoreCoordinator(
        model: try ManagedObjectModel(ModelDescription(entities: [item])))
      try coordinator.addStore(at: url)
      return coordinator
    }

    /// Runs code with a store in which the program has saved an object, and so has keys for others.
    private func withStore(_ body: (URL, ManagedObjectContext) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let context = ManagedObjectContext(try open(url))
        try context.make("Item", ["name": "first"])
        try context.save()
        try body(url, context)
      }
    }

    /// The ways in which other programs choose keys.
    enum Other: CaseIterable {
      case persist, sql

      func insert(_ keys: ClosedRange<Int64>, at url: URL, _ open: (URL) throws -> PersistentStoreCoordinator) throws {
        switch self {
        case .persist:
          let store = try open(url).openStores[0]
          let entity = try store.model.entity(named: "Item")
          var slice = ImportSlice()
          slice.inserts = keys.map { .init(key: .permanent($0), entity: entity, values: SlotValues()) }
          var slices = [slice][...]
          _ = try store.insert { slices.popFirst() }
        case .sql:
          try ForeignSQL.run(
            "INSERT INTO item (id) SELECT generate_series(\(keys.lowerBound), \(keys.upperBound))", at: url)
        }
      }
    }

    @Test("Objects are saved beside rows with keys that the program had for them", arguments: Other.allCases)
    func saving(other: Other) throws {
      try withStore { url, context in
        try other.insert(2...10, at: url, open)
        for number in 0..<3 {
          try context.make("Item", ["name": "\(number)"])
          try context.save()
        }
        // Many more than one block.
        try other.insert(1000...2000, at: url, open)
        for number in 3..<1503 { try context.make("Item", ["name": "\(number)"]) }
        try context.save()
        try #expect(ForeignSQL.run("SELECT count(name), count(*) FROM item", at: url) == [["1504", "2514"]])
      }
    }

    @Test(
      "A batch inserts its rows beside rows with keys that the program had for them", arguments: Other.allCases,
      [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite])
    func batch(other: Other, policy: MergePolicy) throws {
      try withStore { url, context in
        try other.insert(2...200, at: url, open)
        let request = BatchInsertRequest("Item", (0..<5).map { ["name": "\($0)"] })
        context.mergePolicy = policy
        try #expect(context.execute(request).count == 5)
        try #expect(ForeignSQL.run("SELECT count(name) FROM item", at: url) == [["6"]])
      }
    }

    @Test("A batch uses the keys that the program has for its next objects if nobody took one of them")
    func keysInOrder() throws {
      try withStore { _, context in
        var request = BatchInsertRequest("Item", [["name": "a"], ["name": "b"]])
        request.resultType = .objectIDs
        try #expect(context.execute(request).objectIDs?.map(\.primaryKey) == [2, 3])
        let next = try context.make("Item", ["name": "c"])
        try context.save()
        #expect(next.objectID.primaryKey == 4)
      }
    }

    @Test("A batch that keeps stored rows doesn't take a key in use for one of them")
    func keptRows() throws {
      try withStore { url, context in
        // Another row comes between that of the first object and the next one.
        try ForeignSQL.run(
          """
          CREATE FUNCTION comes_between() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          INSERT INTO item (id) VALUES (NEW.id + 1); RETURN NULL; END $$
          """,
          """
          CREATE TRIGGER between AFTER INSERT ON item FOR EACH ROW WHEN (NEW.name = '0') \
          EXECUTE FUNCTION comes_between()
          """, at: url)
        let request = BatchInsertRequest("Item", (0..<5).map { ["name": "\($0)"] } + [["name": "first"]])
        context.mergePolicy = .mergeByPropertyStoreTrump
        try #expect(context.execute(request).count == 5)
        try #expect(ForeignSQL.run("SELECT count(name), count(*) FROM item", at: url) == [["6", "7"]])
      }
    }
  }
#endif
