#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The counterpart of ``StoreLifeTests``.
  @Suite(
    "The life of a store on a server: restored dumps and copied databases", .serialized, .needsServer, .onOwnThread)
  struct ServerLifeTests {
    private let model: ManagedObjectModel

    init() throws {
      model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])]))
    }

    /// The ways in which a backup takes the place of a store.
    enum Restore: CaseIterable {
      case dumpedSchema, cleanedDump, dataOnly, databaseFromTemplate, recreatedDatabase
    }

    /// A database of its own with a store, and the tools of the server.
    private struct Place {
      let server: String
      let database: String
      let backup: String
      let folder: URL

      init(_ seed: UInt64, in folder: URL) throws {
        server = try TestServer.url.get()
      _ = try StoreLocation.postgreSQL(server)
        database = "life_\(ProcessInfo.processInfo.processIdentifier)_\(seed)_\(UInt32.random(in: 0...UInt32.max))"
        backup = database + "_backup"
        self.folder = folder
        try run("CREATE DATABASE \(database)")
      }

      func url(ofDatabase name: String) throws -> URL {
        var parts = try #require(URLComponents(string: server))
        parts.path = "/" + name
        return try #require(parts.url)
      }

      var url: URL {
        get throws {
          var parts = try #require(URLComponents(url: url(ofDatabase: database), resolvingAgainstBaseURL: false))
          parts.queryItems = [URLQueryItem(name: "schema", value: "shop")]
          return try #require(parts.url)
        }
      }

      func run(_ sql: String...) throws {
        for sql in sql { try ForeignSQL.run(sql, at: #require(URL(string: server))) }
      }

      func tool(_ name: String, _ arguments: [String]) throws {
        let process = TestRun.newProcess()
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")
        let newest = try #require(folders.max { $0.compare($1, options: .numeric) == .orderedAscending })
        process.executableURL = URL(fileURLWithPath: "/usr/lib/postgresql/\(newest)/bin/\(name)")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(name) \(arguments)")
      }

      private var dump: String { folder.appendingPathComponent("dump").path }

      func backUp() throws {
        try tool("pg_dump", ["-Fc", "-f", dump, url(ofDatabase: database).absoluteString])
        // The template may not be in use.
        try run("CREATE DATABASE \(backup)")
        try tool("pg_restore", ["-d", url(ofDatabase: backup).absoluteString, dump])
      }

      /// - Parameter ends: Ends the connections of the database, as its deletion does.
      func restore(_ way: Restore) throws {
        let target = try ["-d", url(ofDatabase: database).absoluteString]
        switch way {
        case .dumpedSchema:
          try ForeignSQL.run("DROP SCHEMA shop CASCADE", at: url(ofDatabase: database))
          try tool("pg_restore", target + [dump])
        case .cleanedDump: try tool("pg_restore", target + ["--clean", "--if-exists", "--single-transaction", dump])
        case .dataOnly:
          let tables = try ForeignSQL.run(
            "SELECT string_agg(format('shop.%I', tablename), ', ') FROM pg_tables WHERE schemaname = 'shop'",
            at: url(ofDatabase: database))[0][0]
          try ForeignSQL.run("TRUNCATE \(tables)", at: url(ofDatabase: database))
          try tool("pg_restore", target + ["--data-only", "--disable-triggers", dump])
        case .databaseFromTemplate:
          try run("DROP DATABASE \(database) WITH (FORCE)", "CREATE DATABASE \(database) TEMPLATE \(backup)")
        case .recreatedDatabase:
          try run("DROP DATABASE \(database) WITH (FORCE)", "CREATE DATABASE \(database)")
          try tool("pg_restore", target + [dump])
        }
      }

      func delete() {
        for name in [database, backup] { _ = try? run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
      }
    }

    private func withPlace(_ seed: UInt64, _ body: (Place) throws -> Void) throws {
      try withTemporaryFolder { folder in
        let place = try Place(seed, in: folder)
        defer { place.delete() }
        try body(place)
      }
    }

    private func open(_ place: Place, history: Bool = true) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: place.url, options: StoreOptions(tracksHistory: history))
      return coordinator
    }

    private func save(_ count: Int, _ context: ManagedObjectContext) throws {
      for _ in 0..<count {
        try context.create("Item")["name"] = "new"
        try context.save()
      }
    }

    @Test(
      "A token from before a restore has expired, however far the new history has come",
      .law("server-lives", short: 1, long: 30))
    func tokens() throws {
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        for way in Restore.allCases {
          try withPlace(seed) { place in
            let lost = Int.random(in: 1...2, using: &random)
            var tokens: [HistoryToken] = []
            do {
              let coordinator = try open(place), context = ManagedObjectContext(coordinator)
              try save(Int.random(in: 1...2, using: &random), context)
              // A position that both lives have.
              tokens.append(try #require(try coordinator.currentPersistentHistoryToken()))
              try place.backUp()
              try save(lost, context)
              tokens.append(try #require(try coordinator.currentPersistentHistoryToken()))
              tokens.append(try #require(try coordinator.transactions().last?.token))
              #expect(tokens[1] == tokens[2])
              try coordinator.remove(coordinator.persistentStores[0])
            }
            try place.restore(way)
            let coordinator = try open(place), context = ManagedObjectContext(coordinator)
            for distance in 0...lost + 1 {
              for token in tokens {
                #expect(
                  persistError { _ = try coordinator.execute(.fetchHistory(after: token)) }?.code
                    == .historyTokenExpired, "\(way) after \(distance) saves, seed \(seed)")
              }
              try save(1, context)
            }
            // The new life goes on.
            let token = try #require(try coordinator.currentPersistentHistoryToken())
            try coordinator.remove(coordinator.persistentStores[0])
            try #expect(open(place).execute(.fetchHistory(after: token)).transactions.isEmpty)
          }
        }
      }
    }

    @Test(
      "An open context refuses to read and to save after a restore", .law("server-lives-open", short: 1, long: 30))
    func contexts() throws {
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        for way in Restore.allCases {
          try withPlace(seed) { place in
            let (reader, writer) = try (open(place), open(place))
            let coordinators = [reader, writer, try open(place, history: Bool.random(using: &random))]
            try save(Int.random(in: 1...2, using: &random), ManagedObjectContext(writer))
            try place.backUp()
            try save(Int.random(in: 1...2, using: &random), ManagedObjectContext(writer))
            for coordinator in coordinators {
              _ = try ManagedObjectContext(coordinator).count(for: FetchRequest<ManagedObject>("Item"))
            }
            try place.restore(way)
            let read = persistError {
              _ = try ManagedObjectContext(reader).count(for: FetchRequest<ManagedObject>("Item"))
            }
            #expect(read?.code == .storeExchanged, "\(way), seed \(seed): \(String(describing: read))")
            for coordinator in coordinators {
              let context = ManagedObjectContext(coordinator)
              try context.create("Item")["name"] = "later"
              let error = persistError { try context.save() }
              #expect(error?.code == .storeExchanged, "\(way), seed \(seed): \(String(describing: error))")
            }
            for coordinator in coordinators { try coordinator.remove(coordinator.persistentStores[0]) }
          }
        }
      }
    }

    @Test("A store that is opened again, vacuumed, moved, migrated by copy or read from a replica stays in its life")
    func sameLife() throws {
      try TestServer.withReplica { replica in
        try withPlace(0) { place in
          let coordinator = try open(place), context = ManagedObjectContext(coordinator)
          try save(2, context)
          let token = try #require(try coordinator.currentPersistentHistoryToken())
          func expectSameLife(_ coordinator: PersistentStoreCoordinator) throws {
            try #expect(coordinator.execute(.fetchHistory(after: token)).transactions.count == 1)
          }
          try save(1, context)
          for sql in ["VACUUM FREEZE", "VACUUM FULL", "CLUSTER shop.persist_metadata USING persist_metadata_pkey"] {
            try ForeignSQL.run(sql, at: place.url(ofDatabase: place.database))
            try expectSameLife(coordinator)
            try expectSameLife(open(place))
          }
          try ForeignSQL.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(place.database)'",
            at: #require(URL(string: place.server)))
          try expectSameLife(coordinator)
          try save(1, context)
          // The replica, and the primary server that it may become.
          var parts = try #require(URLComponents(url: place.url, resolvingAgainstBaseURL: false))
          parts.port = try #require(URLComponents(string: replica.url)).port
          let reader = PersistentStoreCoordinator(model: model)
          var opened = false
          for _ in 0..<100 where !opened {
            opened = (try? reader.addStore(at: #require(parts.url), options: StoreOptions(isReadOnly: true))) != nil
            if !opened { usleep(50_000) }
          }
          try #require(opened)
          for _ in 0..<100 {
            if try reader.execute(.fetchHistory(after: token)).transactions.count == 2 { break }
            usleep(50_000)
          }
          try #expect(reader.execute(.fetchHistory(after: token)).transactions.count == 2)
        }
      }
    }

    @Test("A store of an earlier release keeps its life, and has a certificate from then on")
    func uncertified() throws {
      try withPlace(0) { place in
        var token: HistoryToken?
        for _ in 0..<2 {
          let coordinator = try open(place)
          try save(1, ManagedObjectContext(coordinator))
          if let token { try #expect(coordinator.execute(.fetchHistory(after: token)).transactions.count == 1) }
          token = try coordinator.currentPersistentHistoryToken()
          try coordinator.remove(coordinator.persistentStores[0])
          try ForeignSQL.run("DELETE FROM persist_metadata WHERE key = 'life'", at: place.url)
        }
        let coordinator = try open(place)
        try coordinator.remove(coordinator.persistentStores[0])
        try #expect(
          ForeignSQL.run("SELECT count(*) FROM persist_metadata WHERE key = 'life'", at: place.url) == [["1"]])
      }
    }
  }
#endif
