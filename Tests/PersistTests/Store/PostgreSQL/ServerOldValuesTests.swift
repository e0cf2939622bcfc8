#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The old values of stores on a server, beyond what the tests of all engines cover.
  @Suite("History: old values on a server", .needsServer)
  struct ServerOldValuesTests {
    private func open(
      _ url: URL, _ model: ManagedObjectModel? = nil,
      _ options: StoreOptions = StoreOptions(busyTimeout: .seconds(60), historyKeeps: .oldValues)
    ) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: try model ?? OldValuesModel.make())
      try coordinator.addStore(StoreLocation(url), options: options)
      return coordinator
    }

    private func close(_ coordinator: PersistentStoreCoordinator) throws {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func withServer(_ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { try body(#require(URL(string: $0))) }
    }

    /// The old values of a transaction's only change.
    private func oldValues(_ transaction: HistoryTransaction?) -> [String: StoredValue]? {
      transaction?.changes?.first?.oldValues
    }

    @Test("Changes by other programs' SQL keep nothing, not even beside a save")
    func others() throws {
      try withServer { url in
        let coordinator = try open(url)
        let context = ManagedObjectContext(coordinator)
        let (team, tag) = try (context.make("Team", ["name": "A"]), context.make("Tag", ["label": "x"]))
        let person = try context.make("Person", ["name": "Anna", "team": team])
        try person.many("tags").insert(tag)
        try context.save()
        func count() throws -> [[String]] {
          try ["values", "members"].flatMap { name in
            try ForeignSQL.run("SELECT count(*) FROM persist_history_\(name)", at: url)
          }
        }
        let before = try count()
        try ForeignSQL.run(
          "UPDATE person SET name = 'Bea', version = version + 1", "DELETE FROM person_tags", "DELETE FROM tag",
          at: url)
        try ForeignSQL.run("INSERT INTO team (name) VALUES ('B')", at: url)
        #expect(try count() == before)
        // A migration by hand: no pending events keep a table from being altered.
        try ForeignSQL.run(
          "BEGIN; UPDATE team SET name = 'C', version = version + 1; ALTER TABLE team ADD COLUMN note text; COMMIT",
          at: url)
        context.reset()
        let found = try context.fetch(FetchRequest("Person"))
        found[0]["name"] = "Cleo"
        try context.save()
        try #expect(oldValues(coordinator.transactions().last) == ["name": .string("Bea")])
        try close(coordinator)
      }
    }

    @Test("Values that other programs wrote without marks or entity numbers are kept as Persist reads them")
    func incomplete() throws {
      try withServer { url in
        let coordinator = try open(url)
        let context = ManagedObjectContext(coordinator)
        let boss = try context.make("Employee", ["name": "Boss"])
        let anna = try context.make("Employee", ["name": "Anna"])
        try context.save()
        let (id, bossID) = (anna.objectID.primaryKey ?? 0, boss.objectID.primaryKey ?? 0)
        try ForeignSQL.run(
          "UPDATE person SET photo = x'0203', boss_id = \(bossID), version = version + 1 WHERE id = \(id)", at: url)
        context.reset()
        let found = try context.existingObject(with: anna.objectID)
        found["photo"] = nil
        try found.setValue(nil, forKey: "boss")
        try context.save()
        let change = try #require(
          coordinator.transactions().last?.changes?.first { $0.changedObjectID.primaryKey == id })
        #expect(change.oldValues == ["photo": .data(Data([2, 3])), "boss": .objectID(boss.objectID)])
        try close(coordinator)
      }
    }

    @Test("Eight writers of the same objects: the old values of each object are those that the transaction before set")
    func writers() throws {
      try withServer { url in
        let coordinator = try open(url)
        let context = ManagedObjectContext(coordinator)
        let people = try (0..<3).map { try context.make("Person", ["name": "\($0)", "age": 0]) }
        try context.save()
        let ids = people.map(\.objectID)
        let (group, failures) = (DispatchGroup(), LockProtected<[String]>([]))
        for index in 0..<8 {
          group.enter()
          Thread.detachNewThread {
            defer { group.leave() }
            do {
              let own = try self.open(url)
              for round in 0..<12 {
                let context = ManagedObjectContext(own)
                // One object or two, in one flight or two.
                let chosen = round % 2 == 0 ? [ids[(index + round) % 3]] : [ids[index % 3], ids[(index + 1) % 3]]
                var attempts = 0
                while true {
                  do {
                    for id in chosen {
                      let person = try context.existingObject(with: id)
                      person["age"] = (person["age"] as? Int ?? 0) + 1
                    }
                    try context.save()
                    break
                  } catch let error as PersistenceError where error.code == .mergeConflict && attempts < 1000 {
                    attempts += 1
                    context.reset()
                  }
                }
              }
              try self.close(own)
            } catch {
              failures.withLock { $0.append("\(error)") }
            }
          }
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
        var ages: [ManagedObjectID: Int64] = [:]
        for transaction in try coordinator.transactions().dropFirst() {
          for change in transaction.changes ?? [] {
            #expect(change.oldValues == ["age": .integer(ages[change.changedObjectID, default: 0])])
            ages[change.changedObjectID, default: 0] += 1
          }
        }
        #expect(ages.values.reduce(0, +) == Int64(8 * (6 + 12)))
        let ownerless = """
          SELECT count(*) FROM persist_history_values WHERE transactionid NOT IN (SELECT id FROM persist_transaction)
          """
        try #expect(ForeignSQL.run(ownerless, at: url) == [["0"]])
        try close(coordinator)
      }
    }

    @Test("Old values cost a save no statement and no round trip, and a store without them nothing")
    func statements() throws {
      try withServer { url in
        var counts: [[Int]] = []
        for options in [StoreOptions(tracksHistory: true), StoreOptions(historyKeeps: .oldValues)] {
          let coordinator = try open(url, nil, options)
          let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
          let context = ManagedObjectContext(coordinator)
          let tags = try (0..<10).map { _ in try context.make("Tag") }
          try context.save()
          let before = CountedServer.statements(of: store.pool.address).count
          tags[0]["label"] = "first \(counts.count)"
          try context.save()
          for (number, tag) in tags.enumerated() { tag["label"] = "\(counts.count) \(number)" }
          try context.save()
          counts.append(Array(CountedServer.statements(of: store.pool.address).dropFirst(before)))
          try close(coordinator)
        }
        #expect(counts[0] == counts[1])
        #expect(counts[0].count == 3)
      }
    }

    @Test("A program without the right to create anything uses a store that keeps old values")
    func rights() throws {
      try withServer { url in
        try close(open(url))
        let schema = try #require(ServerAddress(url)).schema
        let role = "writer_\(schema)"
        try ForeignSQL.run(
          "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
          "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)", at: url)
        defer { _ = try? ForeignSQL.run("DROP OWNED BY \(role)", "DROP ROLE \(role)", at: url) }
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.user = role
        let own = try #require(parts.url)
        let coordinator = try open(own)
        let context = ManagedObjectContext(coordinator)
        let person = try context.make("Person", ["name": "Anna"])
        try context.save()
        person["name"] = "Bea"
        try context.save()
        let last = try #require(coordinator.transactions().last)
        #expect(oldValues(last) == ["name": .string("Anna")])
        try context.revert(last)
        try context.save()
        #expect(person["name"] as? String == "Anna")
        try close(coordinator)
        // The triggers belong to the owner: without them, the store isn't opened as one that keeps old values.
        let triggers = try ForeignSQL.run(
          "SELECT tgname FROM pg_trigger WHERE tgrelid = 'person'::regclass AND tgname LIKE 'persist_old_%'", at: url)
        try ForeignSQL.run("DROP TRIGGER \(triggers[0][0]) ON \(schema).person", at: url)
        let error = #expect(throws: PersistenceError.self) { try open(own) }
        #expect(error?.code == .storeOpenFailed)
        try close(open(url))
        try close(open(own))
      }
    }

    @Test("Triggers that others dropped, disabled or changed are made anew when the store is opened")
    func maintenance() throws {
      try withServer { url in
        let first = try open(url)
        let context = ManagedObjectContext(first)
        try context.make("Team", ["name": "0"])
        try context.save()
        try close(first)
        let names = try ForeignSQL.run(
          "SELECT tgname FROM pg_trigger WHERE tgrelid = 'team'::regclass AND NOT tgisinternal ORDER BY 1", at: url)
        let name = try #require(names.first?.first)
        for (number, sql) in [
          "DROP TRIGGER \(name) ON team", "ALTER TABLE team DISABLE TRIGGER \(name)",
          "CREATE OR REPLACE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        ].enumerated() {
          try ForeignSQL.run(sql, at: url)
          let coordinator = try open(url, nil, StoreOptions())
          let context = ManagedObjectContext(coordinator)
          let team = try #require(context.fetch(FetchRequest("Team")).first)
          team["name"] = "\(number + 1)"
          try context.save()
          try #expect(oldValues(coordinator.transactions().last) == ["name": .string("\(number)")], "\(sql)")
          try close(coordinator)
        }
      }
    }

    /// Everything that the history keeps of a change.
    private struct KeptChange: Equatable {
      let number: Int64
      let transaction: Int64
      let id: ManagedObjectID
      let values: [String: StoredValue]?
      let members: [String: HistoryMemberChange]?

      init(_ change: HistoryChange) {
        (number, transaction, id) = (change.changeID, change.transactionNumber, change.changedObjectID)
        (values, members) = (change.oldValues, change.memberChanges)
      }
    }

    @Test("A store keeps its old values when it moves to a server and back, and transactions of both can be reverted")
    func moves() throws {
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("Store.sqlite")
        /// Changes whose reverting shows whether everything was kept.
        func change(_ url: URL) throws {
          let coordinator = try open(url)
          let context = ManagedObjectContext(coordinator)
          let team = try context.fetch(FetchRequest("Team")).first ?? context.make("Team", ["name": "A"])
          let note = try context.make("Note", ["text": "n"])
          try team.many("notes").insert(note)
          let boss = try context.make("Employee", ["name": "Boss"])
          let photo = Data(repeating: 7, count: 150_000)
          let anna = try context.make(
            "Employee",
            [
              "name": "Anna", "age": 5, "salary": 1.5, "code": UUID(), "born": Date(timeIntervalSince1970: 1.25),
              "wealth": Decimal(string: "12345678901234567890.125") as Any, "photo": photo, "team": team, "boss": boss,
            ])
          try anna.setValue(["city": "Bonn", "height": 60.0] as [String: Any], forKey: "home")
          let tag = try context.make("Tag", ["label": UUID().uuidString, "chief": anna])
          try anna.many("tags").insert(tag)
          try anna.many("friends").insert(boss)
          try context.save()
          for number in 0..<70 { try context.make("Person", ["name": "\(number)", "age": number, "team": team]) }
          try context.save()
          try team.many("notes").remove(note)
          context.delete(anna)
          try context.save()
          context.reset()
          try context.execute(BatchDeleteRequest("Person", where: FetchPredicate("age < 70")))
          try close(coordinator)
        }
        func changes(_ url: URL) throws -> [KeptChange] {
          let coordinator = try open(url)
          defer { try? close(coordinator) }
          return try coordinator.transactions().flatMap { ($0.changes ?? []).map { KeptChange($0) } }
        }
        /// Reverts all transactions, the last one first, down to a number.
        func revert(_ url: URL, to number: Int64) throws -> [[String: [String: String]]] {
          let coordinator = try open(url)
          defer { try? close(coordinator) }
          let context = ManagedObjectContext(coordinator)
          context.mergePolicy = .overwrite
          var states = [try contents(coordinator)]
          for transaction in try coordinator.transactions().reversed() where transaction.transactionNumber > number {
            try context.revert(transaction)
            try context.save()
            states.append(try contents(coordinator))
          }
          return states
        }
        try change(file)
        let first = try changes(file)
        try withServer { url in
          try StoreCopies.replaceStore(at: StoreLocation(url), with: StoreLocation(file))
          try #expect(changes(url) == first)
          try change(url)
          let second = try changes(url)
          #expect(Array(second.prefix(first.count)) == first)
          try StoreCopies.replaceStore(at: StoreLocation(file), with: StoreLocation(url))
          try #expect(changes(file) == second)
          // Both have the same past.
          let onFile = try revert(file, to: 0)
          #expect(onFile.count == 1 + Set(second.map(\.transaction)).count)
          #expect(onFile.last?.isEmpty == true)
          try #expect(revert(url, to: 0) == onFile)
          for place in [file, url] {
            var problems: [StoreProblem] = []
            try checkStore(at: place, registry: nil) { problems.append($0) }
            #expect(problems.isEmpty, "\(problems)")
          }
        }
      }
    }

    @Test("A store whose tables of old values were dropped moves to a server with a history that keeps none")
    func movesWithoutTables() throws {
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("Store.sqlite")
        func rename(_ coordinator: PersistentStoreCoordinator, to name: String) throws {
          let context = ManagedObjectContext(coordinator)
          let team = try context.fetch(FetchRequest("Team")).first ?? context.make("Team")
          try team.setValue(name, forKey: "name")
          try context.save()
        }
        let original = try open(file)
        for name in ["A", "B"] { try rename(original, to: name) }
        try close(original)
        try MadeStore.run("DROP TABLE PERSIST_HISTORY_VALUES", "DROP TABLE PERSIST_HISTORY_MEMBERS", at: file)
        try withServer { url in
          try StoreCopies.replaceStore(at: StoreLocation(url), with: StoreLocation(file))
          let copy = try open(url, nil, StoreOptions(busyTimeout: .seconds(60), tracksHistory: true))
          try rename(copy, to: "C")
          try #expect(copy.transactions().map(oldValues) == [nil, nil, nil])
          try close(copy)
          let keeping = try open(url)
          try rename(keeping, to: "D")
          try #expect(oldValues(keeping.transactions().last) == ["name": .string("C")])
          try close(keeping)
        }
      }
    }

    @Test("A renamed schema keeps old values")
    func renamedSchema() throws {
      try withServer { url in
        let first = try open(url)
        let writer = ManagedObjectContext(first)
        try writer.make("Team", ["name": "A"])
        try writer.save()
        try close(first)
        let old = try #require(ServerAddress(url)).schema
        let new = old + "_renamed"
        let other = try #require(URL(string: url.absoluteString.replacing("schema=\(old)", with: "schema=\(new)")))
        try ForeignSQL.run("ALTER SCHEMA \(old) RENAME TO \(new)", at: url)
        let coordinator = try open(other, nil, StoreOptions())
        let context = ManagedObjectContext(coordinator)
        let team = try #require(context.fetch(FetchRequest("Team")).first)
        team["name"] = "B"
        try context.save()
        try #expect(oldValues(coordinator.transactions().last) == ["name": .string("A")])
        try close(coordinator)
      }
    }
  }
#endif
