#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: after a connection was lost, either all of a transaction or nothing is in the database, and the program
  /// knows which: no error means all of it, an error nothing, unless it says that the outcome couldn't be asked for.
  @Suite("Connections to a server that are cut", .needsServer, .onOwnThread)
  struct ServerCutTests {
    /// The cuts of a run: every message of both directions, or some of them in a short run.
    private func cuts(_ proxy: CuttingProxy, every step: Int, isFinal: Bool = false) -> [CuttingProxy.Cut] {
      var cuts: [CuttingProxy.Cut] = []
      for direction in CuttingProxy.Direction.allCases {
        for message in 1...max(1, proxy.count(direction)) {
          for isAfter in [false, true] {
            cuts.append(CuttingProxy.Cut(direction, message, isAfter: isAfter, isFinal: isFinal))
          }
        }
      }
      guard !TestLength.isLong else { return cuts }
      // The last messages are those of the commit.
      let last = cuts.filter { $0.message > proxy.count($0.direction) - 4 }
      return cuts.enumerated().filter { $0.offset % step == 0 }.map(\.element) + last
    }

    private func proxy() throws -> CuttingProxy {
      let url = try #require(URL(string: TestServer.url.get()))
      return try CuttingProxy(toPort: UInt16(try #require(url.port)))
    }

    // MARK: Saves

    private static let model = ModelDescription(entities: [
      EntityDescription(
        "Person", attributes: [.init("name", .string), .init("age", .int64)],
        relationships: [.init("team", to: "Team", inverse: "members"), .init("tags", toMany: "Tag", inverse: "people")]),
      EntityDescription(
        "Team", attributes: [.init("name", .string)],
        relationships: [.init("members", toMany: "Person", inverse: "team", isOrdered: true)],
        uniquenessConstraints: [["name"]]),
      EntityDescription(
        "Tag", attributes: [.init("label", .string)],
        relationships: [.init("people", toMany: "Person", inverse: "tags")]),
    ])

    private func open(
      _ url: URL, options: StoreOptions = StoreOptions(historyKeeps: .oldValues)
    ) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.model))
      try coordinator.addStore(at: url, options: options)
      return coordinator
    }

    private func seed(_ url: URL) throws {
      let coordinator = try open(url)
      let context = ManagedObjectContext(coordinator)
      let tags = try ["x", "y"].map { try context.make("Tag", ["label": $0]) }
      let team = try context.make("Team", ["name": "A"])
      for number in 0..<6 {
        let person = try context.make("Person", ["name": "p\(number)", "age": number, "team": team])
        try person.many("tags").insert(tags[number % 2])
      }
      try context.save()
      try coordinator.remove(#require(coordinator.persistentStores.first))
    }

    /// Everything that a store shows, including its history.
    private func contents(_ url: URL) throws -> [String] {
      let coordinator = try open(url)
      defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
      let context = ManagedObjectContext(coordinator)
      let people = try context.fetch(FetchRequest("Person", sortedBy: "name")).map { person in
        let words = ["name", "age"].map { "\(person[$0] ?? "nil")" }
        return try "\(words) \(person.one("team")?["name"] ?? "no team") \(person.names("tags", by: "label"))"
      }
      let teams = try context.fetch(FetchRequest("Team", sortedBy: "name")).map { team in
        try "\(team["name"] ?? "nil"): \(team.many("members").map { "\($0["name"] ?? "")" })"
      }
      let transactions = try coordinator.transactions()
      let (values, members) = (OldValuesLayout.valueTable, OldValuesLayout.memberTable)
      let kept = try [values, members].map { try ForeignSQL.run("SELECT count(*) FROM \($0)", at: url)[0][0] }
      return people + teams + transactions.map { "\($0.transactionNumber) with \($0.changes?.count ?? 0) changes" }
        + ["\(kept[0]) old values, \(kept[1]) members"]
    }

    /// Inserts, updates and deletes in several tables.
    private func change(_ context: ManagedObjectContext) throws {
      let people = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      let tags = try context.fetch(FetchRequest("Tag", sortedBy: "label"))
      let team = try context.make("Team", ["name": "B"])
      for number in 0..<3 { try context.make("Person", ["name": "new \(number)", "team": team]) }
      people[0]["age"] = 50
      people[1]["team"] = team
      try people[2].many("tags").insert(tags[1])
      try people[2].many("tags").remove(tags[0])
      context.delete(people[4])
      context.delete(people[5])
    }

    /// The kinds of saves that take one flight.
    enum SmallChange: CaseIterable {
      case insertion, update, deletions

      func make(_ context: ManagedObjectContext) throws {
        // Keys are reserved with the first save.
        let team = try context.make("Team", ["name": "first"])
        try context.save()
        switch self {
        case .insertion: for name in ["B", "C"] { try context.make("Team", ["name": name]) }
        case .update: team["name"] = "changed"
        case .deletions: for tag in try context.fetch(FetchRequest("Tag")) { context.delete(tag) }
        }
      }
    }

    /// Opens the store of a schema through the proxy and makes changes that aren't saved.
    private func changing(
      _ url: URL, _ proxy: CuttingProxy, wait: Duration = .seconds(20),
      by change: (ManagedObjectContext) throws -> Void, _ body: (ManagedObjectContext) throws -> Void
    ) throws {
      let options = StoreOptions(busyTimeout: wait)
      let coordinator = try open(proxy.url(for: url), options: options)
      defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
      let context = ManagedObjectContext(coordinator)
      try change(context)
      try body(context)
    }

    private func withSeed(_ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try seed(url)
        try body(url)
      }
    }

    @Test("A connection that can be made after a failed attempt is used, whatever the reason of the failure was")
    func failedAttempt() throws {
      let proxy = try proxy()
      defer { proxy.close() }
      try withSeed { url in
        proxy.cut(at: CuttingProxy.Cut(.toServer, 1, isAfter: false))
        let coordinator = try open(proxy.url(for: url), options: StoreOptions())
        #expect(proxy.hasCut)
        try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Person")) == 6)
        try coordinator.remove(#require(coordinator.persistentStores.first))
      }
    }

    @Test("A save is there as a whole or not at all, whatever message is the last one", arguments: [false, true])
    func saves(isFinal: Bool) throws {
      let unknown = try cutSaves(every: isFinal ? 61 : 23, isFinal: isFinal, by: change)
      #expect(isFinal == (unknown > 0))
    }

    @Test("So is a save in one flight", arguments: SmallChange.allCases)
    func smallSaves(change: SmallChange) throws {
      try #expect(cutSaves(every: 13, isFinal: false, by: change.make) == 0)
    }

    /// - Returns: The number of saves whose outcome couldn't be asked for.
    private func cutSaves(
      every step: Int, isFinal: Bool, by change: (ManagedObjectContext) throws -> Void
    ) throws -> Int {
      let proxy = try proxy()
      defer { proxy.close() }
      var (before, after): ([String], [String]) = ([], [])
      try withSeed { url in
        try changing(url, proxy, by: change) { context in
          before = try contents(url)
          proxy.cut(at: nil)
          try context.save()
        }
        after = try contents(url)
      }
      #expect(before != after)
      var unknown = 0
      let cuts = cuts(proxy, every: step, isFinal: isFinal)
      print("A save: \(proxy.count(.toServer)) messages to the server, \(proxy.count(.toProgram)) back, \(cuts.count) cuts")
      for cut in cuts {
        try withSeed { url in
          try changing(url, proxy, wait: isFinal ? .milliseconds(100) : .seconds(20), by: change) { context in
            let people = try context.count(for: FetchRequest("Person"))
            proxy.cut(at: cut)
            var error: (any Error)?
            do { try context.save() } catch let failure { error = failure }
            let hasCut = proxy.hasCut
            proxy.cut(at: nil)
            let found = try contents(url)
            guard let error else {
              #expect(found == after, "\(cut): saved")
              #expect(!context.hasChanges, "\(cut)")
              return
            }
            #expect(hasCut, "\(cut): \(error)")
            let code = (error as? PersistenceError)?.code
            if code == .saveFailed {
              unknown += 1
              #expect(isFinal, "\(cut): the server could be asked. \(error)")
              #expect([before, after].contains(found), "\(cut): \(error)")
              return
            }
            #expect(found == before, "\(cut): \(error)")
            // The next call has a connection, and saves what wasn't.
            try context.save()
            try #expect(contents(url) == after, "\(cut): saved again")
            #expect(try context.count(for: FetchRequest("Person")) == people)
          }
        }
      }
      return unknown
    }

    // MARK: Migrations

    private static func versions(copies: Bool) throws -> ModelRegistry {
      func model(_ attributes: [AttributeDescription], _ more: EntityDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(
          ModelDescription(
            entities: [
              EntityDescription(
                "Item", attributes: attributes, relationships: [.init("shop", to: "Shop", inverse: "items")]),
              EntityDescription(
                "Shop", attributes: [.init("name", .string)],
                relationships: [.init("items", toMany: "Item", inverse: "shop")]),
            ] + more))
      }
      let name = AttributeDescription("name", .string)
      return ModelRegistry(versions: [
        ModelVersion(name: "1", model: try model([name, .init("size", .int32), .init("old", .string)])),
        ModelVersion(
          name: "2",
          model: try model(
            [name, .init("length", .double, renamingIdentifier: "size"), .init("note", .string, default: .string("new"))],
            EntityDescription("Aardvark"))),
      ])
    }

    @Test("A migration is there as a whole or not at all, whatever message is the last one", arguments: [false, true])
    func migrations(copies: Bool) throws {
      let registry = try Self.versions(copies: copies)
      let (old, new) = (registry.versions[0], registry.versions[1])
      let proxy = try proxy()
      defer { proxy.close() }
      var migrator = AutomaticMigrator(alwaysCopies: copies)
      migrator.retries = 0
      func withOld(_ body: (URL) throws -> Void) throws {
        try TestServer.withSchema { text in
          let url = try #require(URL(string: text))
          try MadeStore.make(old.model, at: url)
          try MadeStore.fill(old.model, at: url, rows: 4, seed: 1)
          try body(url)
        }
      }
      var (before, after): (StoreDump?, StoreDump?) = (nil, nil)
      try withOld { url in
        before = try StoreDump(of: old.model, at: url)
        proxy.cut(at: nil)
        try migrator.migrate(storeAt: proxy.url(for: url), to: new, registry: registry)
        after = try StoreDump(of: new.model, at: url)
      }
      let cuts = cuts(proxy, every: copies ? 301 : 97)
      print(
        "A migration \(copies ? "by copy" : "in place"): \(proxy.count(.toServer)) messages to the server, "
          + "\(proxy.count(.toProgram)) back, \(cuts.count) cuts")
      for cut in cuts {
        try withOld { url in
          proxy.cut(at: cut)
          var error: (any Error)?
          do {
            try migrator.migrate(storeAt: proxy.url(for: url), to: new, registry: registry)
          } catch let failure { error = failure }
          proxy.cut(at: nil)
          let code = (error as? PersistenceError)?.code
          #expect(error == nil || code != nil, "\(cut): \(error.map { "\($0)" } ?? "")")
          #expect(code != .saveFailed, "\(cut): the server could be asked")
          let version = try StoreIdentification.identify(storeAt: url, registry: registry).version?.name
          #expect(version == (error == nil ? "2" : "1"), "\(cut): \(error.map { "\($0)" } ?? "no error")")
          if version == "1" {
            try #expect(StoreDump(of: old.model, at: url) == before, "\(cut)")
            try migrator.migrate(storeAt: proxy.url(for: url), to: new, registry: registry)
          }
          try #expect(StoreDump(of: new.model, at: url) == after, "\(cut)")
          let schemas = try ForeignSQL.run(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, current_schema() || '_')", at: url)
          #expect(schemas == [], "\(cut): no copy remains")
        }
      }
    }
  }
#endif
