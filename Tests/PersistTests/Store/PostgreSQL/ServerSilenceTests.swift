#if canImport(PersistPostgreSQL) && os(Linux)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: if packets vanish, every operation ends within its timeout and some seconds. Then either all of a save is
  /// stored or nothing, and the program knows which, unless the error says that it couldn't find out. When the network
  /// is back, everything works as before. A server that works for long isn't a network that is quiet.
  @Suite("Networks that go quiet", .needsServer, .needsQuietNetwork, .onOwnThread)
  struct ServerSilenceTests {
    private static func model(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Account", attributes: [.init("name", .string)] + attributes,
            relationships: [.init("owner", to: "Person", inverse: "accounts")]),
          EntityDescription(
            "Person", attributes: [.init("name", .string)],
            relationships: [.init("accounts", toMany: "Account", inverse: "owner")]),
        ]))
    }

    private static let registry = Result {
      ModelRegistry(versions: [
        ModelVersion(name: "1", model: try model()),
        ModelVersion(name: "2", model: try model(.init("balance", .int64, isOptional: false, default: .integer(1)))),
      ])
    }

    /// The time that an operation may take beyond its timeout.
    private static let more = Duration.seconds(5)

    /// Makes packets vanish after a moment, while code runs.
    private func silencing<T>(
      _ network: QuietNetwork, _ kind: QuietNetwork.Silence, after delay: Double,
      for length: Double? = nil, _ body: () throws -> T
    ) rethrows -> T {
      let thread = Thread {
        Thread.sleep(forTimeInterval: delay)
        network.silence(kind)
        if let length {
          Thread.sleep(forTimeInterval: length)
          network.restore(kind)
        }
      }
      thread.start()
      return try body()
    }

    private func withNetwork(_ body: (QuietNetwork, _ url: String) throws -> Void) throws {
      let network = try QuietNetwork()
      defer { network.close() }
      try body(network, network.url + "?schema=quiet")
    }

    private func open(_ url: String, _ wait: Duration) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: try Self.registry.get().versions[0].model)
      try coordinator.addStore(StoreLocation.postgreSQL(url), options: StoreOptions(busyTimeout: wait))
      return coordinator
    }

    /// Makes each write of a table take some time at the end of its transaction.
    private func slow(_ url: String, seconds: Double) throws {
      let place = try #require(URL(string: url))
      try ForeignSQL.run(
        """
        CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN PERFORM pg_sleep(\(seconds)); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER pause AFTER INSERT OR UPDATE ON quiet.account DEFERRABLE INITIALLY DEFERRED \
        FOR EACH ROW EXECUTE FUNCTION pause()
        """, at: place)
    }

    /// The operations that a network can interrupt.
    enum Operation: CaseIterable {
      case insertion, update, updates, fetch, count, batch, fault

      func run(_ context: ManagedObjectContext, _ accounts: [ManagedObject]) throws {
        switch self {
        case .insertion:
          try context.make("Account", ["name": "changed"])
          try context.save()
        case .update:
          accounts[0]["name"] = "changed"
          try context.save()
        case .updates:
          for account in accounts { account["name"] = "changed" }
          try context.save()
        case .fetch: _ = try context.fetch(FetchRequest("Account"))
        case .count: _ = try context.count(for: FetchRequest("Account"))
        case .batch:
          _ = try context.execute(BatchUpdateRequest("Account", set: ["name": .value("changed")]))
        case .fault:
          context.refreshAllObjects()
          _ = accounts[0]["name"]
          try context.save()
        }
      }
    }

    @Test(
      "An operation ends in time, its outcome is known or said to be unknown, and the next one works",
      arguments: QuietNetwork.Silence.allCases)
    func operations(kind: QuietNetwork.Silence) throws {
      let wait = Duration.seconds(3)
      try withNetwork { network, url in
        let coordinator = try open(url, wait)
        for (number, operation) in Operation.allCases.enumerated() where TestLength.isLong || number % 3 == 0 {
          let context = ManagedObjectContext(coordinator)
          let person = try context.make("Person", ["name": "\(operation)"])
          let accounts = try (0..<3).map { _ in try context.make("Account", ["name": "old", "owner": person]) }
          try context.save()
          let start = ContinuousClock.now
          network.silence(kind)
          let error = persistError { try operation.run(context, accounts) }
          let time = start.duration(to: .now)
          network.restore(kind)
          #expect(time < wait + Self.more, "\(operation)")
          #expect(error != nil, "\(operation)")
          let other = ManagedObjectContext(coordinator)
          #expect(
            try other.count(for: FetchRequest("Account", where: "name = 'changed'")) == 0 || error?.code == .saveFailed,
            "\(operation): \(error.map { "\($0)" } ?? "")")
          try operation.run(context, accounts)
          other.rollback()
          for account in try other.fetch(FetchRequest("Account")) { other.delete(account) }
          try other.save()
        }
      }
    }

    @Test("A commit that is acknowledged but not answered is found out when the network is back")
    func unansweredCommit() throws {
      try withNetwork { network, url in
        let coordinator = try open(url, .seconds(12))
        let context = ManagedObjectContext(coordinator)
        try context.make("Account", ["name": "first"])
        try context.save()
        try slow(url, seconds: 1)
        for kind in QuietNetwork.Silence.allCases {
          try context.make("Account", ["name": "\(kind)"])
          let start = ContinuousClock.now
          try silencing(network, kind, after: 0.4, for: 9) { try context.save() }
          let time = start.duration(to: .now)
          // The reply still arrives if only the acknowledgements vanish.
          #expect(kind == .requests || time > .seconds(7), "\(kind)")
          #expect(time < .seconds(12) + Self.more, "\(kind)")
          Thread.sleep(forTimeInterval: kind == .requests ? 10 : 0)
          let other = ManagedObjectContext(coordinator)
          #expect(try other.count(for: FetchRequest("Account", where: "name = %@", "\(kind)")) == 1)
        }
      }
    }

    @Test("A save whose outcome can't be asked for in time says so, and its locks are released")
    func unknownOutcome() throws {
      try withNetwork { network, url in
        let coordinator = try open(url, .seconds(3))
        let context = ManagedObjectContext(coordinator)
        let accounts = try (0..<2).map { try context.make("Account", ["name": "\($0)"]) }
        try context.save()
        try slow(url, seconds: 0.7)
        for account in accounts { account["name"] = "changed" }
        let start = ContinuousClock.now
        let error = silencing(network, .replies, after: 0.4) { persistError { try context.save() } }
        #expect(error?.code == .saveFailed, "\(error.map { "\($0)" } ?? "")")
        #expect(start.duration(to: .now) < .seconds(3) + Self.more)
        network.restore(.replies)
        // The first session has the locks until it ends.
        let other = ManagedObjectContext(coordinator)
        for account in try other.fetch(FetchRequest("Account")) { account["name"] = "again" }
        try other.save()
      }
    }

    @Test("A transaction that was lost before its commit keeps nobody waiting")
    func lostLocks() throws {
      try withNetwork { network, url in
        let coordinator = try open(url, .seconds(3))
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        let context = ManagedObjectContext(coordinator)
        let account = try context.make("Account", ["name": "old"])
        try context.save()
        let error = persistError {
          try store.pool.write { transaction in
            try transaction.run(["UPDATE account SET name = 'lost'"])
            network.silence(.replies)
            try transaction.run(["UPDATE account SET name = 'lost again'"])
          }
        }
        #expect(error?.code == .connectionLost, "\(error.map { "\($0)" } ?? "")")
        network.restore(.replies)
        account["name"] = "new"
        let start = ContinuousClock.now
        try context.save()
        #expect(start.duration(to: .now) < .seconds(2))
      }
    }

    @Test("A migration ends in time, and the next attempt migrates")
    func migration() throws {
      let registry = try Self.registry.get()
      try withNetwork { network, url in
        let context = ManagedObjectContext(try open(url, .seconds(3)))
        try context.make("Account", ["name": "old"])
        try context.save()
        let place = try #require(URL(string: url))
        let blocker = try ServerDrivers.current.connect(to: ServerAddress(#require(URL(string: network.url))).orThrow())
        _ = try blocker.run([ServerStatement("BEGIN"), ServerStatement("LOCK TABLE quiet.account IN SHARE MODE")])
        let (migrator, options) = (AutomaticMigrator(), StoreOptions(busyTimeout: .seconds(3)))
        let start = ContinuousClock.now
        let error = silencing(network, .replies, after: 0.5) {
          persistError {
            try migrator.migrate(storeAt: place, to: registry.versions[1], registry: registry, options: options)
          }
        }
        #expect(start.duration(to: .now) < .seconds(3) + Self.more, "\(error.map { "\($0)" } ?? "")")
        #expect(error != nil)
        network.restore(.replies)
        blocker.close()
        try migrator.migrate(storeAt: place, to: registry.versions[1], registry: registry)
      }
    }

    // MARK: Slow, not quiet

    private func connection(_ network: QuietNetwork) throws -> any ServerConnection {
      let address = try ServerAddress(#require(URL(string: network.url))).orThrow()
      return try ServerDrivers.current.connect(to: address, ServerPatience(busyTimeout: .seconds(1)))
    }

    @Test("A statement that works for long isn't cut off")
    func slowStatement() throws {
      try withNetwork { network, _ in
        let result = try connection(network).run([ServerStatement("SELECT 5::bigint FROM pg_sleep(5)")])
        #expect(result.first?.integer(0, 0) == 5)
      }
    }

    @Test("Nor is one that works for long, if the network is quiet for a moment")
    func shortSilence() throws {
      try withNetwork { network, _ in
        let connection = try connection(network)
        let statement = ServerStatement("SELECT 5::bigint FROM pg_sleep(4)")
        let result = try silencing(network, .replies, after: 1, for: 0.5) { try connection.run([statement]) }
        #expect(result.first?.integer(0, 0) == 5)
      }
    }

    @Test("A statement that works for long ends with the network")
    func silenceDuringStatement() throws {
      try withNetwork { network, _ in
        let connection = try connection(network)
        let start = ContinuousClock.now
        let error = silencing(network, .link, after: 1) {
          #expect(throws: ServerFailure.self) { try connection.run([ServerStatement("SELECT 1 FROM pg_sleep(60)")]) }
        }
        #expect(error?.isDisconnected == true)
        #expect(start.duration(to: .now) < .seconds(8))
      }
    }

    @Test("A server that reads nothing for long isn't cut off, whatever it is sent", arguments: [false, true])
    func busyServer(copies: Bool) throws {
      try withNetwork { network, _ in
        let connection = try connection(network)
        _ = try connection.run([ServerStatement("CREATE TEMPORARY TABLE texts (value text)")])
        let process = try #require(connection.run([.processNumber]).first).integer(0, 0)
        kill(Int32(process), SIGSTOP)
        let thread = Thread {
          Thread.sleep(forTimeInterval: 8)
          kill(Int32(process), SIGCONT)
        }
        thread.start()
        let count = 40_000_000
        if copies {
          try connection.copy("COPY texts FROM STDIN", [UInt8](repeating: UInt8(ascii: "x"), count: count))
        } else {
          let text = ServerParameter(type: .text, bytes: [UInt8](repeating: UInt8(ascii: "x"), count: count))
          _ = try connection.run([ServerStatement("INSERT INTO texts VALUES ($1)", [text])])
        }
        let result = try connection.run([ServerStatement("SELECT sum(length(value))::bigint FROM texts")])
        #expect(result.first?.integer(0, 0) == Int64(count))
      }
    }

    // MARK: Connecting

    @Test("Connecting ends in time, and continues with another host", arguments: QuietNetwork.Silence.allCases)
    func connecting(kind: QuietNetwork.Silence) throws {
      try withNetwork { network, url in
        _ = try open(url, .seconds(3))
        network.silence(kind)
        let start = ContinuousClock.now
        #expect(persistError { _ = try open(url, .seconds(3)) }?.code == .storeOpenFailed)
        #expect(start.duration(to: .now) < .seconds(3) + Self.more)
        let other = try #require(URL(string: TestServer.url.get()))
        let quiet = try #require(URL(string: url))
        let both =
          "postgresql://persist@\(quiet.host ?? ""):\(quiet.port ?? 0),\(other.host ?? ""):\(other.port ?? 0)/postgres"
        let address = try StoreLocation.postgreSQL(both)
        guard case .server(let address) = address else { return }
        _ = try ServerDrivers.current.connect(to: address, ServerPatience(busyTimeout: .seconds(3)))
        network.restore(kind)
      }
    }
  }

  extension Optional {
    fileprivate func orThrow() throws -> Wrapped { try #require(self) }
  }
#endif
