#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a migration that has to wait for others makes nobody else wait for more than a moment.
  @Suite("Locks of migrations on a server", .needsServer, .onOwnThread)
  struct ServerLockTests {
    private static func model(_ version: Int) throws -> ManagedObjectModel {
      let name = AttributeDescription("name", .string)
      let more = [name, .init("length", version == 1 ? .int32 : .double, renamingIdentifier: "length")]
      return try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item", attributes: version == 1 ? more : more + [.init("note", .string)],
            relationships: [.init("shop", to: "Shop", inverse: "items")]),
          EntityDescription(
            "Shop", attributes: [name], relationships: [.init("items", toMany: "Item", inverse: "shop")]),
        ]))
    }

    private func connection(_ url: URL) throws -> any ServerConnection {
      try ServerDrivers.current.connect(to: #require(ServerAddress(url)))
    }

    /// Reads a table again and again, and notes the longest time.
    private final class Reader: Sendable {
      private let isEnded = Atomic(false)
      private let longest = Mutex(Duration.zero)
      private let hasEnded = DispatchSemaphore(value: 0)

      init(_ url: URL, table: String) throws {
        let thread = Thread { [self] in
          defer { hasEnded.signal() }
          guard let address = ServerAddress(url),
            let connection = try? ServerDrivers.current.connect(to: address)
          else { return }
          while !isEnded.load(ordering: .acquiring) {
            let start = ContinuousClock.now
            _ = try? connection.run([ServerStatement("SELECT count(*) FROM \"\(address.schema)\".\(table)")])
            let time = start.duration(to: .now)
            longest.withLock { $0 = max($0, time) }
            Thread.sleep(forTimeInterval: 0.01)
          }
        }
        thread.start()
      }

      func end() -> Duration {
        isEnded.store(true, ordering: .releasing)
        hasEnded.wait()
        return longest.withLock { $0 }
      }
    }

    /// A migration to the second of two versions, on a thread of its own.
    private final class RunningMigration: Sendable {
      private let result = LockProtected<Result<MigrationReport, any Error>?>(nil)
      private let hasEnded = DispatchSemaphore(value: 0)

      init(of url: URL, _ registry: ModelRegistry, _ options: StoreOptions) {
        let thread = Thread { [self] in
          var migrator = AutomaticMigrator()
          migrator.retries = 0
          let found = Result {
            try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry, options: options)
          }
          result.withLock { $0 = found }
          hasEnded.signal()
        }
        thread.start()
      }

      var isRunning: Bool { result.withLock { $0 == nil } }

      /// Waits for the end.
      ///
      /// - Throws: The migration's error.
      func end() throws {
        hasEnded.wait()
        _ = try result.withLock { $0 }?.get()
      }
    }

    @Test(
      "A migration behind an idle reader lets other readers pass, and continues when that has ended",
      arguments: [false, true])
    func readers(copies: Bool) throws {
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(1)), ModelVersion(name: "2", model: try Self.model(2)),
      ])
      for table in ["item", "shop"] {
        try TestServer.withSchema { text in
          let url = try #require(URL(string: text))
          let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
          try coordinator.addStore(at: url)
          let context = ManagedObjectContext(coordinator)
          for number in 0..<10 { try context.make("Item", ["name": "\(number)", "length": number]) }
          try context.save()
          try coordinator.remove(#require(coordinator.persistentStores.first))
          let schema = try #require(ServerAddress(url)).schema
          let idle = try connection(url)
          _ = try idle.run([ServerStatement("BEGIN"), ServerStatement("SELECT count(*) FROM \"\(schema)\".\(table)")])
          let reader = try Reader(url, table: table)
          let thread = Thread { [release = Release(idle)] in
            Thread.sleep(forTimeInterval: 3)
            release.connection.close()
          }
          thread.start()
          var migrator = AutomaticMigrator(alwaysCopies: copies)
          migrator.retries = 0
          let options = StoreOptions(busyTimeout: .seconds(10))
          try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry, options: options)
          let longest = reader.end()
          #expect(longest < .seconds(2), "\(table)")
          let migrated = PersistentStoreCoordinator(model: registry.versions[1].model)
          try migrated.addStore(at: url)
          #expect(try ManagedObjectContext(migrated).count(for: FetchRequest("Item")) == 10)
        }
      }
    }

    /// Features that let a migration change tables other than those of its own changes.
    enum Feature: CaseIterable {
      case none, oldValues, rules, derived

      var options: StoreOptions {
        var options = StoreOptions()
        if self == .oldValues { options.historyKeeps = .oldValues }
        options.enforcesValidation = self == .rules
        return options
      }
    }

    /// Versions in which one attribute of an item has another type. Only items and shops are related to them.
    private static func wideModel(_ version: Int, _ feature: Feature) throws -> ManagedObjectModel {
      var name = AttributeDescription("name", .string)
      name.validation.maximumLength = 100
      let count = AttributeDescription("count", .int64, derivation: "sheets.@count")
      let counts = feature == .derived ? [count] : []
      return try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item", attributes: [name, .init("length", version == 1 ? .int32 : .double)],
            relationships: [.init("shop", to: "Shop", inverse: "items")]),
          EntityDescription(
            "Shop", attributes: [name], relationships: [.init("items", toMany: "Item", inverse: "shop")]),
          EntityDescription(
            "Book", attributes: [name] + counts,
            relationships: [.init("sheets", toMany: "Sheet", inverse: "book")]),
          EntityDescription(
            "Sheet", attributes: [name], relationships: [.init("book", to: "Book", inverse: "sheets")]),
        ]))
    }

    @Test(
      "While a migration waits for one table, readers of the others pass, and it continues afterward",
      arguments: Feature.allCases, ["item", "shop", "book", "sheet"])
    func otherTables(feature: Feature, blocked: String) throws {
      let registry = ModelRegistry(versions: try (1...2).map {
        ModelVersion(name: "\($0)", model: try Self.wideModel($0, feature))
      })
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
        let store = try coordinator.addStore(at: url, options: feature.options)
        let context = ManagedObjectContext(coordinator)
        for entity in ["Item", "Shop", "Book", "Sheet"] { try context.make(entity, ["name": "a"]) }
        try context.save()
        try coordinator.remove(store)
        let schema = try #require(ServerAddress(url)).schema
        let (idle, reader) = (try connection(url), try connection(url))
        _ = try idle.run([ServerStatement("BEGIN"), ServerStatement("SELECT count(*) FROM \"\(schema)\".\(blocked)")])
        var options = feature.options
        options.busyTimeout = .seconds(20)
        let migration = RunningMigration(of: url, registry, options)
        let waiting = ServerStatement(
          """
          SELECT count(*) FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation JOIN pg_namespace AS n \
          ON n.oid = c.relnamespace WHERE NOT l.granted AND n.nspname = '\(schema)'
          """)
        // Until the migration waits, unless it doesn't need this table.
        for _ in 0..<100_000 where migration.isRunning {
          if try reader.run([waiting]).first.map({ $0.integer(0, 0) > 0 }) == true { break }
        }
        // These would otherwise wait until the idle transaction ends, and the migration's time would be over.
        for _ in 0..<3 {
          for table in ["item", "shop", "book", "sheet"] where table != blocked {
            _ = try reader.run([ServerStatement("SELECT count(*) FROM \"\(schema)\".\(table)")])
          }
        }
        idle.close()
        #expect(throws: Never.self) { try migration.end() }
      }
    }

    /// As an automatic vacuum does, which the server ends only if somebody has waited for its lock for a second.
    @Test("While a migration waits for a vacuum, it keeps waiting, and others read and write")
    func vacuum() throws {
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(1)), ModelVersion(name: "2", model: try Self.model(2)),
      ])
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        try context.make("Item", ["name": "a", "length": 1])
        try context.save()
        try coordinator.remove(store)
        let schema = try #require(ServerAddress(url)).schema
        let (vacuum, other) = (try connection(url), try connection(url))
        _ = try vacuum.run([
          ServerStatement("BEGIN"),
          ServerStatement("LOCK TABLE \"\(schema)\".item IN SHARE UPDATE EXCLUSIVE MODE"),
        ])
        let migration = RunningMigration(of: url, registry, StoreOptions(busyTimeout: .seconds(60)))
        let waiting = ServerStatement(
          """
          SELECT count(*) FROM pg_locks WHERE NOT granted AND clock_timestamp() - waitstart > interval '1.2 seconds' \
          AND relation = '"\(schema)".item'::regclass
          """)
        while migration.isRunning, try other.run([waiting]).first.map({ $0.integer(0, 0) == 0 }) == true {
          _ = try other.run([
            ServerStatement("SET lock_timeout = 5000"),
            ServerStatement("UPDATE \"\(schema)\".item SET name = 'b'"),
            ServerStatement("SELECT count(*) FROM \"\(schema)\".item"),
          ])
        }
        #expect(migration.isRunning)
        vacuum.close()
        #expect(throws: Never.self) { try migration.end() }
      }
    }

    // Sendable: only the thread that closes it uses the connection.
    private struct Release: @unchecked Sendable {
      let connection: any ServerConnection
      init(_ connection: any ServerConnection) { self.connection = connection }
    }

    @Test("A migration behind a reader that doesn't end is busy after the timeout, and changes nothing")
    func endlessReader() throws {
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(1)), ModelVersion(name: "2", model: try Self.model(2)),
      ])
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
        try coordinator.addStore(at: url)
        try coordinator.remove(#require(coordinator.persistentStores.first))
        let schema = try #require(ServerAddress(url)).schema
        let idle = try connection(url)
        _ = try idle.run([ServerStatement("BEGIN"), ServerStatement("SELECT count(*) FROM \"\(schema)\".item")])
        var migrator = AutomaticMigrator()
        migrator.retries = 0
        let start = ContinuousClock.now
        let error = persistError {
          let options = StoreOptions(busyTimeout: .seconds(1))
          try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry, options: options)
        }
        #expect(error?.code == .storeBusy, "\(error.map { "\($0)" } ?? "")")
        #expect(start.duration(to: .now) < .seconds(4))
        idle.close()
        let again = PersistentStoreCoordinator(model: registry.versions[0].model)
        try again.addStore(at: url)
      }
    }
  }
#endif
