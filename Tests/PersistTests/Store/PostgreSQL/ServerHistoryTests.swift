#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The history of stores on a server, beyond what the tests of all engines cover.
  @Suite("History: stores on a server", .needsServer)
  struct ServerHistoryTests {
    private func open(_ location: StoreLocation, _ model: ManagedObjectModel) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(location, options: StoreOptions(busyTimeout: .seconds(60), tracksHistory: true))
      return coordinator
    }

    private func close(_ coordinator: PersistentStoreCoordinator) throws {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test("Numbers are in the order of commits: a follower of several writers never misses a transaction")
    func order() throws {
      try TestServer.withSchema { server in
        let location = try StoreLocation.postgreSQL(server)
        let first = try open(location, HistoryModel.make())
        let writers = try (0..<4).map { _ in try open(location, HistoryModel.make()) }
        let (saves, group) = (25, DispatchGroup())
        let failures = LockProtected<[String]>([])
        for (index, writer) in writers.enumerated() {
          group.enter()
          Thread.detachNewThread {
            defer { group.leave() }
            do {
              let context = ManagedObjectContext(writer)
              for number in 0..<saves {
                try context.make("Team", ["name": "\(index).\(number)"])
                try context.save()
              }
            } catch {
              failures.withLock { $0.append("\(error)") }
            }
          }
        }
        var followed: [Int64] = []
        var changes: Set<Int64> = []
        while true {
          let hasEnded = group.wait(timeout: .now()) == .success
          for transaction in try first.transactions(HistoryQuery(afterNumber: followed.last ?? 0)) {
            followed.append(transaction.transactionNumber)
            #expect(transaction.changes?.count == 1)
            changes.formUnion((transaction.changes ?? []).map(\.changeID))
          }
          if hasEnded { break }
        }
        #expect(failures.withLock { $0 } == [])
        let all = writers.count * saves
        #expect(followed == Array(1...Int64(all)))
        #expect(changes.count == all)
        for coordinator in writers + [first] { try close(coordinator) }
      }
    }

    @Test("Others' tables follow new entity numbers, even if two exchange theirs under a unique index")
    func othersNumbers() throws {
      func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
        let description = ModelDescription(entities: entities, versionIdentifiers: [name])
        return ModelVersion(name: name, model: try ManagedObjectModel(description))
      }
      let old = try version("1", EntityDescription("A"), EntityDescription("B"), EntityDescription("C"))
      let new = try version(
        "2", EntityDescription("A", renamingIdentifier: "B"), EntityDescription("B", renamingIdentifier: "A"))
      try TestServer.withSchema { server in
        let location = try StoreLocation.postgreSQL(server)
        let url = try #require(location.url)
        try close(open(location, old.model))
        try ForeignSQL.run(
          "CREATE TABLE notes (zentity bigint, zentitypk bigint, note text, UNIQUE (zentity, zentitypk))",
          "INSERT INTO notes VALUES (1, 1, 'of A'), (2, 1, 'of B'), (3, 1, 'of C')", at: url)
        try AutomaticMigrator().migrate(storeAt: url, to: new, registry: ModelRegistry(versions: [old, new]))
        let notes = try ForeignSQL.run("SELECT zentity, note FROM notes ORDER BY zentity", at: url)
        #expect(notes == [["1", "of B"], ["2", "of A"]])
      }
    }

    @Test("Values of deleted objects are kept exactly, whatever their type")
    func tombstones() throws {
      let uuid = UUID()
      let date = Date(timeIntervalSince1970: 1.25)
      let number = try #require(Decimal(string: "12345678901234567890.123456789"))
      let uri = try #require(URL(string: "https://example.com"))
      let types: [(AttributeType, Any, StoredValue)] = [
        (.int16, -5, .integer(-5)), (.int64, Int64.max, .integer(.max)), (.double, 0.1, .double(0.1)),
        (.float, 0.5, .double(0.5)), (.boolean, true, .boolean(true)), (.string, "ü'\\x", .string("ü'\\x")),
        (.date, date, .date(date)), (.binary, Data([0, 255]), .data(Data([0, 255]))), (.uuid, uuid, .uuid(uuid)),
        (.uri, uri, .uri("https://example.com")), (.decimal, number, .decimal(number)),
      ]
      let attributes = types.map { type, _, _ in
        AttributeDescription("\(type)Value", type, preservesValueOnDeletion: true)
      }
      let model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Thing", attributes: attributes)]))
      try TestServer.withSchema { server in
        let coordinator = try open(.postgreSQL(server), model)
        let context = ManagedObjectContext(coordinator)
        let (full, empty) = try (context.make("Thing"), context.make("Thing"))
        for (attribute, (_, value, _)) in zip(attributes, types) {
          try full.setValue(value, forKey: attribute.name)
        }
        try context.save()
        context.delete(full)
        context.delete(empty)
        try context.save()
        let changes = try #require(try coordinator.transactions().last?.changes)
        let tombstones = changes.sorted { $0.changeID < $1.changeID }.compactMap(\.tombstone)
        let expected = Dictionary(uniqueKeysWithValues: zip(attributes, types).map { ($0.name, $1.2) })
        #expect(tombstones.count == 2)
        #expect(tombstones.contains(expected))
        #expect(tombstones.contains([:]))
        try close(coordinator)
      }
    }

    @Test("A store keeps its history, readers and numbers when it moves to a server and back")
    func moves() throws {
      try withTemporaryFolder { folder in
        let file = StoreLocation(folder.appendingPathComponent("Store.sqlite"))
        let model = try HistoryModel.make()
        func save(_ location: StoreLocation, _ name: String) throws -> [[String]] {
          let coordinator = try open(location, model)
          let context = ManagedObjectContext(coordinator)
          context.transactionAuthor = name
          let person = try context.make("Person", ["name": name])
          try context.save()
          context.delete(person)
          try context.save()
          try coordinator.historyReader(named: "widget").markAsRead(upTo: nil)
          defer { try? close(coordinator) }
          return try coordinator.transactions().map { transaction in
            ["\(transaction.transactionNumber) \(transaction.author ?? "")"]
              + (transaction.changes ?? []).map { "\($0.changeID) \(words($0)) \($0.tombstone ?? [:])" }
          }
        }
        let first = try save(file, "file")
        try TestServer.withSchema { server in
          let server = try StoreLocation.postgreSQL(server)
          try StoreCopies.replaceStore(at: server, with: file)
          let second = try save(server, "server")
          #expect(Array(second.prefix(first.count)) == first)
          #expect(second.count == 4)
          try StoreCopies.replaceStore(at: file, with: server)
          let third = try save(file, "again")
          #expect(Array(third.prefix(second.count)) == second)
          #expect(third.map { String($0[0].prefix(1)) } == ["1", "2", "3", "4", "5", "6"])
        }
        let coordinator = try open(file, model)
        #expect(try coordinator.openStores[0].history?.readers().map(\.name) == ["widget"])
        try close(coordinator)
      }
    }
  }
#endif
