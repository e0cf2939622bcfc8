#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// A store on a real server: its connections, its users, and its migrations.
  @Suite("Stores on a server", .needsServer)
  struct ServerStoreTests {
    private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Account", attributes: attributes)]))
    }

    private static let name = AttributeDescription("name", .string)
    private static let balance = AttributeDescription(
      "balance", .int64, isOptional: false, default: .integer(0))

    private func coordinator(
      _ model: ManagedObjectModel, at url: String, options: StoreOptions = .automaticMigration
    ) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(.postgreSQL(url), options: options)
      return coordinator
    }

    private func address(_ url: String) throws -> ServerAddress {
      let url = try #require(URL(string: url))
      return try #require(ServerAddress(url))
    }

    @Test("Eight threads that count with retries lose no update")
    func counters() throws {
      let model = try Self.model([Self.name, Self.balance])
      try TestServer.withSchema { url in
        let coordinators = try (0..<8).map { _ in try coordinator(model, at: url) }
        let context = ManagedObjectContext(coordinators[0])
        for number in 0..<4 { try context.make("Account", ["name": "\(number)"]) }
        try context.save()
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
          do {
            for round in 0..<25 {
              while true {
                let context = ManagedObjectContext(coordinators[thread])
                let account = try context.named("Account", "\((thread + round) % 4)")
                account["balance"] = (account["balance"] as? Int ?? 0) + 1
                do {
                  try context.save()
                  break
                } catch let error as PersistenceError where error.code == .mergeConflict {}
              }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        let sum = try ManagedObjectContext(coordinators[1]).fetch(FetchRequest("Account"))
          .reduce(0) { $0 + ($1["balance"] as? Int ?? 0) }
        #expect(sum == 8 * 25)
      }
    }

    @Test("A connection that the server ended is replaced before the next read or save")
    func lostConnections() throws {
      let model = try Self.model([Self.name])
      try TestServer.withSchema { url in
        let coordinator = try coordinator(model, at: url)
        let context = ManagedObjectContext(coordinator)
        try context.make("Account", ["name": "before"])
        try context.save()
        let address = try address(url)
        for _ in 0..<2 {
          let other = try ServerDrivers.current.connect(to: address)
          _ = try other.run([
            ServerStatement("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
              + "AND query LIKE '%\(address.schema)%'")
          ])
          other.close()
          try #expect(context.count(for: FetchRequest("Account")) >= 1)
          try context.make("Account", ["name": "after"])
          try context.save()
        }
        try #expect(context.count(for: FetchRequest("Account")) == 3)
      }
    }

    @Test("A change is noticed even if its transaction began before another one that ended first")
    func foreignChanges() throws {
      // Nobody else changes this server.
      try TestServer.withOwnServer { server in
        let text = server + "?schema=shop"
        let coordinator = try coordinator(Self.model([Self.name]), at: text)
        let context = ManagedObjectContext(coordinator)
        for name in ["a", "b"] { try context.make("Account", ["name": name]) }
        try context.save()
        let url = try #require(URL(string: text))
        let early = try ForeignSQL.Session(url)
        try early.run("BEGIN")
        try early.run("UPDATE account SET name = 'early' WHERE name = 'a'")
        try ForeignSQL.run("UPDATE account SET name = 'late' WHERE name = 'b'", at: url)
        let store = coordinator.openStores[0]
        let before = try store.foreignChangeCount()
        try #expect(store.foreignChangeCount() == before)
        try early.run("COMMIT")
        try #expect(store.foreignChangeCount() != before)
      }
    }

    @Test("Saves that fail leave no prepared statements on the server")
    func preparedStatements() throws {
      let model = try Self.model([Self.name, Self.balance])
      try TestServer.withSchema { text in
        let coordinator = try coordinator(model, at: text)
        let context = ManagedObjectContext(coordinator)
        try context.make("Account", ["name": "first"])
        try context.save()
        let url = try #require(URL(string: text))
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        var counts: [Int64] = []
        for round in 0..<30 {
          let context = ManagedObjectContext(coordinator)
          let account = try context.named("Account", "first")
          try ForeignSQL.run("UPDATE account SET version = version + 1", at: url)
          account["balance"] = round + 1
          #expect(persistError { try context.save() }?.code == .mergeConflict)
          context.rollback()
          try context.make("Account", ["name": "other \(round)"])
          try context.save()
          let count = try store.pool.read { session in
            try session.first("SELECT count(*) FROM pg_prepared_statements") { $0.integer($1, 0) }
          }
          counts.append(count ?? 0)
        }
        #expect(try #require(counts.last) < counts[2] + 5, "\(counts)")
      }
    }

    @Test("A server that isn't there is an error with advice, in which no password occurs")
    func unreachable() throws {
      let location = try StoreLocation.postgreSQL("postgresql://user:s3cret@127.0.0.1:1/shop?connect_timeout=2")
      let error = persistError {
        try PersistentStoreCoordinator(model: Self.model([Self.name])).addStore(location)
      }
      #expect(error?.code == .storeOpenFailed)
      #expect(error?.fix != nil)
      #expect(error.map { "\($0)" }?.contains("s3cret") == false)
      #expect(error?.place.store?.absoluteString.contains("s3cret") == false)
      let broken = persistError { _ = try StoreLocation.postgreSQL("host=a password='s3cret") }
      #expect(broken.map { "\($0)" }?.contains("s3cret") == false)
    }

    @Test("Information about a store contains its server and its schema, but no password")
    func information() throws {
      try TestServer.withSchema { url in
        let secret = url.replacing("persist@", with: "persist:s3cret@")
        let coordinator = try coordinator(Self.model([Self.name]), at: secret)
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.type == .postgreSQL)
        #expect(store.url?.absoluteString.contains("s3cret") == false)
        #expect(store.url?.absoluteString.contains("schema=test_") == true)
        let full = try #require(URL(string: secret))
        #expect(coordinator.store(at: full) == store)
      }
    }

    @Test("A schema of another program is neither opened nor deleted")
    func foreignSchema() throws {
      try TestServer.withSchema { url in
        let address = try address(url)
        let connection = try ServerDrivers.current.connect(to: address)
        defer { connection.close() }
        _ = try connection.run([
          ServerStatement("CREATE SCHEMA \(address.schema)"),
          ServerStatement("CREATE TABLE \(address.schema).theirs (id int)"),
        ])
        let location = try StoreLocation.postgreSQL(url)
        let opening = persistError {
          try PersistentStoreCoordinator(model: Self.model([Self.name])).addStore(location)
        }
        #expect(opening?.code == .notAStore)
        let deleting = persistError { try location.engine.destroyStore(at: location) }
        #expect(deleting?.code == .notAStore)
        _ = try connection.run([ServerStatement("DROP SCHEMA \(address.schema) CASCADE")])
      }
    }

    @Test("Sixteen programs that open an old store at once: one migrates it, and all can use it")
    func migrations() throws { try TestServer.withSchema { try expectOneMigration(at: $0) } }

    @Test("The same with a server whose transactions usually see one state from their beginning")
    func migrationsOfOneState() throws {
      try TestServer.withOwnServer { server in
        let setting = "ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'"
        try ForeignSQL.run(setting, at: #require(URL(string: server)))
        try expectOneMigration(at: server + "?schema=shop")
      }
    }

    private func expectOneMigration(at url: String) throws {
      let old = try Self.model([Self.name])
      let new = try Self.model([Self.name, Self.balance])
      let first = try coordinator(old, at: url)
      let context = ManagedObjectContext(first)
      for number in 0..<20 { try context.make("Account", ["name": "\(number)"]) }
      try context.save()
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
      ])
      let failures = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        do {
          let coordinator = PersistentStoreCoordinator(model: new, registry: registry)
          try coordinator.addStore(.postgreSQL(url), options: .automaticMigration)
          let accounts = try ManagedObjectContext(coordinator).fetch(FetchRequest("Account", where: "balance == 0"))
          if accounts.count != 20 { failures.withLock { $0.append("\(accounts.count) accounts") } }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      let location = try StoreLocation.postgreSQL(url)
      #expect(try location.engine.metadata(ofStoreAt: location).migrationLog.count == 1)
      // The program with the old model notices before it writes.
      try context.make("Account", ["name": "late"])
      #expect(persistError { try context.save() }?.code == .incompatibleModel)
    }

    @Test("A migration that needs a copy runs in a file, and takes the store's place with every row")
    func copyingMigration() throws {
      let old = try Self.model([Self.name])
      let new = try Self.model([Self.name, Self.balance])
      try TestServer.withSchema { url in
        let context = ManagedObjectContext(try coordinator(old, at: url))
        for number in 0..<10 { try context.make("Account", ["name": "\(number)"]) }
        try context.save()
        let identifier = try #require(context.persistentStoreCoordinator.persistentStores.first?.identifier)
        let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
        var migrator = AutomaticMigrator()
        migrator.alwaysCopies = true
        let coordinator = PersistentStoreCoordinator(model: new, registry: ModelRegistry(versions: versions))
        let store = try coordinator.addStore(.postgreSQL(url), options: StoreOptions(migrator: migrator))
        #expect(store.identifier == identifier)
        try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Account", where: "balance == 0")) == 10)
        let location = try StoreLocation.postgreSQL(url)
        #expect(try location.engine.metadata(ofStoreAt: location).migrationLog.count == 1)
      }
    }

    @Test("Names longer than the server's are kept apart, through migrations too")
    func longNames() throws {
      let start = String(repeating: "veryLongName", count: 6)
      let attributes = ["First", "Second"].map { AttributeDescription(start + $0, .string) }
      let old = try Self.model(attributes)
      let new = try Self.model(attributes + [AttributeDescription(start + "Third", .string)])
      try TestServer.withSchema { url in
        let context = ManagedObjectContext(try coordinator(old, at: url))
        try context.make("Account", [start + "First": "a", start + "Second": "b"])
        try context.save()
        let registry = ModelRegistry(versions: [
          ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
        ])
        let coordinator = PersistentStoreCoordinator(model: new, registry: registry)
        try coordinator.addStore(.postgreSQL(url), options: .automaticMigration)
        let present = ManagedObjectContext(coordinator)
        let account = try #require(present.fetch(FetchRequest("Account")).first)
        #expect(account[start + "First"] as? String == "a")
        #expect(account[start + "Second"] as? String == "b")
        account[start + "Third"] = "c"
        try present.save()
        let again = try ManagedObjectContext(coordinator).fetch(FetchRequest("Account", where: "\(start)Third == 'c'"))
        #expect(again.count == 1)
      }
    }

    @Test("A text with U+0000 is refused with the name of its property")
    func nullCharacters() throws {
      try TestServer.withSchema { url in
        let context = ManagedObjectContext(try coordinator(Self.model([Self.name]), at: url))
        try context.make("Account", ["name": "a\0b"])
        let error = persistError { try context.save() }
        #expect(error?.code == .validationRule)
        #expect(error?.place.property == "name")
        #expect(try context.fetch(FetchRequest("Account", where: "name == 'a\0b'")).count == 1)
      }
    }
  }
#endif
