#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistTestSupport
  import PersistTools
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite(
    "Parked values in copies from a file to a server and back", .needsServer, .aboutFiles("copies between engines"))
  struct ParkedTransferTests {
    private static var parking: AutomaticMigrator {
      var migrator = AutomaticMigrator(allowsLoss: false)
      migrator.parking = .olderVersions
      return migrator
    }

    private func replace(_ destination: URL, with source: URL, _ model: ManagedObjectModel) throws {
      try PersistentStoreCoordinator(model: model).replacePersistentStore(
        at: StoreLocation(destination), withPersistentStoreFrom: StoreLocation(source))
      try #expect(
        PersistentStoreCoordinator.parkedContents(at: destination)
          == PersistentStoreCoordinator.parkedContents(at: source))
    }

    // MARK: Laws

    @Test(
      "Whatever chains of models park, and wherever the store is copied meanwhile, every object has its values again",
      .law("parked chains across engines", short: 6, long: 500))
    func chains() throws {
      var moves = 0
      forEachSeed { seed in
        try withTemporaryFile { file in
          try TestServer.withSchema { text in
            var chain = ParkedChain(seed: seed)
            _ = try chain.run(at: file, or: URL(string: text))
            moves += chain.parkedMoves
          }
        }
      }
      #expect(moves > 0)
    }

    @Test(
      "A store that goes to an older version, is copied elsewhere, and goes back has all its values",
      .law("parking across engines", short: 8, long: 800), arguments: [false, true])
    func downAndUp(returns: Bool) throws {
      var parked = 0
      let count = forEachSeed { seed in
        var models = RandomModels(seed: seed)
        let old = try models.model()
        for _ in 0..<3 { models.change() }
        let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: try models.model())]
        let registry = ModelRegistry(versions: versions)
        func isPossible(_ url: URL, _ version: ModelVersion) throws -> Bool {
          try Self.parking.canMigrateWithoutLoss(storeAt: url, to: version, registry: registry)
        }
        try withTemporaryFile { file in
          try MadeStore.make(versions[1].model, at: file)
          try MadeStore.fill(versions[1].model, at: file, rows: 6, seed: seed)
          try TestServer.withSchema { text in
            let server = try #require(URL(string: text))
            // Values that the other engine would round or refuse are gone before.
            try replace(server, with: file, versions[1].model)
            try replace(file, with: server, versions[1].model)
            let (first, second) = seed.isMultiple(of: 2) ? (file, server) : (server, file)
            let before = try storedContents(at: StoreLocation(first), includingDerived: false)
            guard try isPossible(first, versions[0]) else { return }
            let down = try Self.parking.migrate(storeAt: first, to: versions[0], registry: registry)
            try replace(second, with: first, versions[0].model)
            if returns { try replace(first, with: second, versions[0].model) }
            let last = returns ? first : second
            guard try isPossible(last, versions[1]) else {
              try #require(down.parked == 0, "seed \(seed): the way back is refused")
              return
            }
            let up = try Self.parking.migrate(storeAt: last, to: versions[1], registry: registry)
            try #expect(storedContents(at: StoreLocation(last), includingDerived: false) == before, "seed \(seed)")
            #expect(up.restored > 0 || down.parked == 0, "seed \(seed)")
            if down.parked > 0 { parked += 1 }
          }
        }
      }
      #expect(parked > count / 8 || count < 20)
      #expect(parked > 0 || count < 8)
    }

    // MARK: Cases

    private static func version(_ number: Int, _ attributes: [AttributeDescription]) throws -> ModelVersion {
      let note = EntityDescription("Note", attributes: [.init("name", .string)] + attributes)
      return ModelVersion(name: "\(number)", model: try ManagedObjectModel(ModelDescription(entities: [note])))
    }

    /// A store at the first version, in which all but the names of ten notes is parked.
    private func withParked(
      _ attributes: [AttributeDescription], at url: URL, _ values: (Int) -> [String: Any],
      _ body: (ModelRegistry) throws -> Void
    ) throws {
      let registry = try ModelRegistry(versions: [Self.version(1, []), Self.version(2, attributes)])
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<10 {
        let note = try context.make("Note", ["name": "n\(number)"])
        for (name, value) in values(number) { note[name] = value }
      }
      try context.save()
      try coordinator.remove(store)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[0], registry: registry)
      try body(registry)
    }

    @Test("A backup of a store on a server, and the store that it becomes by moving, have its parked values")
    func openStores() throws {
      try withTemporaryFile { file in
        try TestServer.withSchema { text in
          let server = try #require(URL(string: text))
          let backup = file.deletingLastPathComponent().appendingPathComponent("Backup.sqlite")
          try withParked(
            [.init("day", .date), .init("photo", .binary, allowsExternalStorage: true)], at: server,
            { ["day": Date(timeIntervalSinceReferenceDate: 0.125 * Double($0)), "photo": Data(count: 150_000 + $0)] }
          ) { registry in
            let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
            let store = try coordinator.addStore(at: server)
            try coordinator.backUp(store, to: backup)
            let moved = try coordinator.migratePersistentStore(store, to: file)
            try coordinator.remove(moved)
            for url in [server, backup, file] {
              try #expect(
                PersistentStoreCoordinator.parkedContents(at: url).map(\.amount) == ["10 values", "10 values"])
              let report = try AutomaticMigrator().migrate(
                storeAt: url, to: registry.versions[1], registry: registry)
              #expect(report.restored == 20)
            }
            let contents = try [server, backup, file].map { try storedContents(at: StoreLocation($0)) }
            #expect(contents.allSatisfy { $0 == contents[0] } && contents[0].count == 10)
          }
        }
      }
    }

    @Test("A store on a server with parked values doesn't move to memory, which would lose them")
    func memory() throws {
      try TestServer.withSchema { text in
        let server = try #require(URL(string: text))
        try withParked([.init("size", .int32)], at: server, { ["size": $0] }) { registry in
          let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
          let store = try coordinator.addStore(at: server)
          let error = persistError { try coordinator.migratePersistentStore(store, to: nil) }
          #expect(error?.code == .invalidRequest && error?.place.property == "size", "\(String(describing: error))")
          #expect(try ManagedObjectContext(coordinator).count("Note") == 10)
          try coordinator.remove(store)
          _ = try PersistentStoreCoordinator.purgeParkedContents(at: server)
          _ = try coordinator.migratePersistentStore(coordinator.addStore(at: server), to: nil)
          #expect(try ManagedObjectContext(coordinator).count("Note") == 10)
        }
      }
    }

    @Test("Objects that are deleted after the copy take their parked values along, on both engines")
    func deletions() throws {
      try withTemporaryFile { file in
        try TestServer.withSchema { text in
          let server = try #require(URL(string: text))
          try withParked([.init("size", .int32)], at: file, { ["size": $0] }) { registry in
            for (source, copy) in [(file, server), (server, file)] {
              try replace(copy, with: source, registry.versions[0].model)
              let before = try PersistentStoreCoordinator.parkedContents(at: copy)[0].count
              let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
              let store = try coordinator.addStore(at: copy)
              let context = ManagedObjectContext(coordinator)
              context.delete(try context.fetch(FetchRequest<ManagedObject>("Note"))[0])
              try context.save()
              try coordinator.remove(store)
              try #expect(PersistentStoreCoordinator.parkedContents(at: copy)[0].count == before - 1)
            }
          }
        }
      }
    }

    @Test("A value that a server can't hold is named, and nothing remains of the copy")
    func refused() throws {
      try withTemporaryFile { file in
        try TestServer.withSchema { text in
          let server = try #require(URL(string: text))
          try withParked([.init("text", .string)], at: file, { ["text": $0 == 7 ? "a\u{0}b" : "c"] }) { registry in
            let error = persistError { try replace(server, with: file, registry.versions[0].model) }
            #expect(error?.code == .invalidRequest && error?.place.property == "text", "\(String(describing: error))")
            #expect(error?.message.contains("'a\\0b'") == true, "\(String(describing: error))")
            try #expect(StoreLocation(server).engine.canCreateStore(at: StoreLocation(server)))
          }
        }
      }
    }
  }
#endif
