#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The answer to the question whether a transaction was committed, after its connection was lost.
  @Suite("Outcomes of transactions on a server", .needsServer, .onOwnThread)
  struct ServerOutcomeTests {
    private static let description = ModelDescription(entities: [
      EntityDescription("Account", attributes: [.init("name", .string), .init("balance", .int64)])
    ])

    private func withStore(
      _ text: String, wait: Duration = .seconds(20), _ body: (PostgreSQLStore, URL) throws -> Void
    ) throws {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.description))
      try coordinator.addStore(.postgreSQL(text), options: StoreOptions(busyTimeout: wait))
      try body(#require(coordinator.openStores[0] as? PostgreSQLStore), #require(URL(string: text)))
    }

    private func session(_ store: PostgreSQLStore) throws -> ServerSession {
      let address = store.pool.address
      return ServerSession(
        connection: try ServerDrivers.current.connect(to: address), schema: address.schema, url: store.url)
    }

    /// Whether a transaction whose connection is lost now counts as committed.
    private func wasCommitted(
      _ proof: CommitProof, _ store: PostgreSQLStore, wait: Duration = .seconds(20)
    ) throws -> Bool {
      let outcome = ServerOutcome(address: store.pool.address, wait: wait)
      let lost = ServerFailure(state: "08006", message: "lost", isDisconnected: true)
      do {
        try outcome.committing(.proof(proof)) { throw lost }
        return true
      } catch let failure as ServerFailure where failure.state == lost.state {
        return false
      }
    }

    private static let insertion: ServerText = """
      INSERT INTO \(table: "account") (id, entity, version, name) VALUES (1, 1, 1, 'lost')
      """

    /// Kills a process of the server, so that it ends all others and recovers, and waits for that.
    private func crash(_ url: URL) throws {
      let others = try ForeignSQL.run(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()", at: url)
      kill(try #require(others.first.flatMap { Int32($0[0]) }), SIGKILL)
      for _ in 0..<200 {
        Thread.sleep(forTimeInterval: 0.05)
        if (try? ForeignSQL.run("SELECT 1", at: url)) != nil { return }
      }
    }

    @Test("A connection reads one state of the store after a statement failed beside prepared ones")
    func stateAfterFailure() throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, _ in
          let session = try session(store)
          defer { session.connection.close() }
          // A connection prepares nothing in its first flight.
          for _ in 0..<2 { try session.run(["SELECT 1"], areReused: true) }
          #expect(throws: ServerFailure.self) { try session.run(["SELECT nosuch"]) }
          let count = try session.readTransaction { session in
            try session.query("SELECT count(*) FROM \(table: "account")").integer(0, 0)
          }
          #expect(count == 0)
        }
      }
    }

    @Test("After a crash, a lost transaction isn't taken for another one that has its number")
    func reusedNumber() throws {
      // Nothing of the transaction reaches the disk before its commit.
      try TestServer.withOwnServer("-c wal_writer_delay=10s") { text in
        try withStore(text + "?schema=shop") { store, url in
          var isReused = false
          let error = persistError {
            try store.pool.write { transaction in
              try transaction.run([Self.insertion])
              let lost = try transaction.all("SELECT pg_current_xact_id()::text") { $0.text($1, 0) }
              try crash(url)
              let other = try ForeignSQL.run("SELECT pg_current_xact_id()", at: url)
              isReused = other.first == lost
            }
          }
          #expect(isReused, "the server has assigned the number again")
          #expect(error?.code == .connectionLost, "\(String(describing: error))")
          #expect(error?.message.contains("Nothing was saved") == true)
          try #expect(ForeignSQL.run("SELECT name FROM account", at: url) == [])
          // The store goes on.
          try store.pool.write { try $0.run([Self.insertion]) }
          try #expect(ForeignSQL.run("SELECT name FROM account", at: url) == [["lost"]])
        }
      }
    }

    @Test("A transaction that creates a store and is lost in a crash isn't taken for a committed one")
    func withoutProof() throws {
      try TestServer.withOwnServer("-c wal_writer_delay=10s") { text in
        let url = try #require(URL(string: text))
        guard case .server(let address) = try StoreLocation.postgreSQL(text) else { return }
        let pool = ServerPool(address, options: StoreOptions(busyTimeout: .milliseconds(500)))
        defer { pool.close() }
        let error = persistError {
          try pool.write { transaction in
            try transaction.run(["CREATE SCHEMA lost"])
            try crash(url)
            for _ in 0..<3 { try ForeignSQL.run("SELECT pg_current_xact_id()", at: url) }
          }
        }
        #expect(error?.code == .saveFailed, "\(String(describing: error))")
        try #expect(ForeignSQL.run("SELECT 1 FROM pg_namespace WHERE nspname = 'lost'", at: url) == [])
      }
    }

    @Test("After the server has ended, a save says so at once, and that nothing was saved")
    func stopped() throws {
      let server = try RunningServer.startOwn()
      defer { server.stop() }
      try withStore(server.url + "?schema=shop", wait: .seconds(30)) { store, _ in
        try store.pool.write { try $0.run([Self.insertion]) }
        server.stop()
        let start = ContinuousClock.now
        let error = persistError { try store.pool.write { $0.runLast([Self.insertion]) } }
        #expect(error?.code == .storeOpenFailed, "\(String(describing: error))")
        #expect(error?.message.contains("No server could be reached") == true)
        #expect(start.duration(to: .now) < .seconds(15))
      }
    }

    @Test("A transaction that arrives after the question isn't committed")
    func late() throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, url in
          let proof = CommitProof(writer: UUID(), number: 1)
          try #expect(!wasCommitted(proof, store))
          let session = try session(store)
          let failure = #expect(throws: ServerFailure.self) {
            try session.run(["BEGIN"] + proof.statements() + [Self.insertion, "COMMIT"])
          }
          #expect(failure?.state == "23505")
          session.rollBack()
          // Asked again, the answer is the same.
          try #expect(!wasCommitted(proof, store))
          try #expect(ForeignSQL.run("SELECT name FROM account", at: url) == [])
        }
      }
    }

    @Test("The question waits for the end of a running transaction", arguments: ["COMMIT", "ROLLBACK"])
    func running(end: String) throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, _ in
          let proof = CommitProof(writer: UUID(), number: 1)
          let session = try session(store)
          try session.run(["BEGIN"] + proof.statements())
          // Until then, nothing is known.
          let failure = #expect(throws: ServerFailure.self) {
            try wasCommitted(proof, store, wait: .milliseconds(200))
          }
          #expect(failure?.state == "08007")
          try session.run([end == "COMMIT" ? "COMMIT" : "ROLLBACK"])
          try #expect(wasCommitted(proof, store) == (end == "COMMIT"))
        }
      }
    }

    @Test("Proofs don't accumulate: a connection deletes its former ones, and those of ended programs after a day")
    func cleaning() throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, url in
          try ForeignSQL.run(
            "INSERT INTO persist_commits VALUES (gen_random_uuid(), 1, true, now() - interval '2 days')",
            "INSERT INTO persist_commits VALUES (gen_random_uuid(), 1, true, now() - interval '2 hours')", at: url)
          for _ in 0..<200 { try store.pool.write { $0.runLast(["SELECT 1"]) } }
          let rows = try ForeignSQL.run("SELECT count(*), count(DISTINCT writer) FROM persist_commits", at: url)
          // 8 of the last 64, or up to 64 before the next cleaning, and the younger one of the other program.
          let count = try #require(Int(rows[0][0]))
          #expect(count <= 66 && rows[0][1] == "2", "\(rows)")
        }
      }
    }

    @Test("Saves of insertions, of deletions or of one changed object take one flight, others two")
    func flights() throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, _ in
          let coordinator = PersistentStoreCoordinator(model: store.model)
          try coordinator.addStore(.postgreSQL(text))
          let own = coordinator.openStores[0]
          let context = ManagedObjectContext(coordinator)
          func flights(_ change: () throws -> Void) throws -> Int {
            try change()
            let before = own.statementCount
            try context.save()
            return own.statementCount - before
          }
          try context.make("Account", ["name": "first"])
          try context.save()
          let accounts = try (0..<3).map { try context.make("Account", ["name": "\($0)"]) }
          try #expect(flights {} == 1)
          try #expect(flights { accounts[0]["balance"] = 1 } == 1)
          try #expect(flights { for account in accounts { account["balance"] = 2 } } == 2)
          try #expect(flights {
            accounts[1]["balance"] = 3
            try context.make("Account", ["name": "new"])
          } == 1)
          try #expect(flights {
            accounts[1]["balance"] = 4
            context.delete(accounts[2])
          } == 2)
          try #expect(flights { for account in accounts.prefix(2) { context.delete(account) } } == 1)
        }
      }
    }

    @Test("A save of one changed object, or of some deletions, has four statements")
    func statements() throws {
      try TestServer.withSchema { text in
        try withStore(text) { store, _ in
          let coordinator = PersistentStoreCoordinator(model: store.model)
          try coordinator.addStore(.postgreSQL(text))
          let context = ManagedObjectContext(coordinator)
          func statements(_ change: () throws -> Void) throws -> [Int] {
            try change()
            let before = CountedServer.statements(of: store.pool.address).count
            try context.save()
            return Array(CountedServer.statements(of: store.pool.address).dropFirst(before))
          }
          let accounts = try (0..<5).map { try context.make("Account", ["name": "\($0)"]) }
          try context.save()
          // The begin with its lock, the proof with the change, and the commit.
          for number in 1...3 { try #expect(statements { accounts[0]["balance"] = number } == [4]) }
          try #expect(statements { for account in accounts[1...2] { context.delete(account) } } == [4])
          // The insertion is another statement.
          try #expect(statements {
            accounts[3]["balance"] = 3
            try context.make("Account", ["name": "new"])
          } == [5])
        }
      }
    }
  }
#endif
