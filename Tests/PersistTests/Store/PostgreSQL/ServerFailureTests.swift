#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel
  @testable import PersistTools

  /// Bad things that happen to servers and their users: each is a clear error with advice.
  @Suite("Failures of a server", .needsServer, .onOwnThread)
  struct ServerFailureTests {
    private static func model() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Account", attributes: [.init("name", .string), .init("balance", .int64)])
        ]))
    }

    private static func migratedModel() throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Account", attributes: [.init("name", .string), .init("balance", .int64), .init("note", .string)])
        ]))
    }

    private func open(_ url: URL, options: StoreOptions = StoreOptions()) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: try Self.model())
      try coordinator.addStore(at: url, options: options)
      return ManagedObjectContext(coordinator)
    }

    private func withAccount(_ body: (URL) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let context = try open(url)
        try context.make("Account", ["name": "first", "balance": 1])
        try context.save()
        try body(url)
      }
    }

    /// A URL with other settings of the connection.
    private func url(_ url: URL, user: String? = nil, _ settings: String...) -> URL {
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) ?? URLComponents()
      if let user { parts.user = user }
      if !settings.isEmpty {
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "options", value: options)]
      }
      return parts.url ?? url
    }

    private func expect(
      _ code: PersistenceError.Code, _ words: String, _ place: SourceLocation = #_sourceLocation,
      _ body: () throws -> Void
    ) {
      let error = persistError(body)
      #expect(error?.code == code, "\(String(describing: error))", sourceLocation: place)
      #expect(error?.message.contains(words) == true, "\(String(describing: error))", sourceLocation: place)
      #expect(error?.fix != nil, sourceLocation: place)
    }

    @Test("The message of a connection that ended without a word quotes nothing")
    func silentEnd() {
      let cases: [(message: String, state: String, quoted: String?)] = [
        ("", "", nil), ("", "57P01", "(57P01)"), ("over", "", "over"), ("over", "57P01", "over (57P01)"),
      ]
      for (message, state, quoted) in cases {
        let failure = ServerFailure(state: state, message: message, isDisconnected: true)
        let error = PersistenceError(failure, at: URL(string: "postgresql://host/database"))
        #expect(error.engineMessage == quoted)
        #expect(error.code == .connectionLost)
        let says = quoted.map { " The server says: \($0)." } ?? ""
        #expect(error.fullMessage == "The connection to the server was lost while reading.\(says)")
      }
    }

    @Test("A read-only server shows its store, and refuses saves and migrations")
    func readOnly() throws {
      try withAccount { url in
        let reader = self.url(url, "default_transaction_read_only=on")
        let context = try open(reader)
        let account = try #require(try context.fetch(FetchRequest("Account")).first)
        account["balance"] = 2
        expect(.storeReadOnly, "read-only") { try context.save() }
        #expect(account["balance"] as? Int == 2 && context.hasChanges)
        expect(.storeReadOnly, "read-only") { _ = try context.execute(BatchDeleteRequest("Account")) }
        let coordinator = PersistentStoreCoordinator(model: try Self.migratedModel())
        expect(.storeReadOnly, "read-only") { try coordinator.addStore(at: reader, options: .automaticMigration) }
        try #expect(ForeignSQL.run("SELECT balance FROM account", at: url) == [["1"]])
        try TestServer.withSchema { empty in
          let empty = self.url(try #require(URL(string: empty)), "default_transaction_read_only=on")
          expect(.storeReadOnly, "read-only") { _ = try open(empty) }
        }
      }
    }

    @Test("A role without rights gets an error that says so; one that may only read can")
    func rights() throws {
      try withAccount { url in
        let schema = try #require(ServerAddress(url)).schema
        let role = "role_\(schema)"
        try ForeignSQL.run("CREATE ROLE \(role) LOGIN", at: url)
        defer { _ = try? ForeignSQL.run("DROP OWNED BY \(role)", "DROP ROLE \(role)", at: url) }
        let theirs = self.url(url, user: role)
        expect(.storeOpenFailed, "no right") { _ = try open(theirs) }
        try ForeignSQL.run(
          "GRANT USAGE ON SCHEMA \(schema) TO \(role)", "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
          at: url)
        let context = try open(theirs, options: StoreOptions(isReadOnly: true))
        try #expect(context.count(for: FetchRequest("Account")) == 1)
        try withTemporaryFolder { folder in
          let outcome = try VerifiedCopy(of: theirs, to: folder.appendingPathComponent("Copy.sqlite")).run()
          #expect(outcome.objects == 1)
        }
        let writer = try open(theirs)
        try writer.make("Account", ["name": "second"])
        expect(.storeOpenFailed, "no right") { try writer.save() }
        let coordinator = PersistentStoreCoordinator(model: try Self.migratedModel())
        expect(.storeOpenFailed, "no right") { try coordinator.addStore(at: theirs, options: .automaticMigration) }
        // Enough for saving, without the rights of the owner.
        try ForeignSQL.run(
          "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
          "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)", at: url)
        try writer.save()
        try #expect(context.count(for: FetchRequest("Account")) == 2)
        // A new store needs a schema, which only some may create.
        let other = otherStore("new", beside: theirs)
        expect(.storeOpenFailed, "no right") { _ = try open(other) }
        expect(.storeOpenFailed, "refused") { _ = try open(self.url(url, user: "nobody_\(schema)")) }
      }
    }

    @Test("A server without a connection left is busy, and doesn't refuse the user")
    func noConnectionLeft() throws {
      try withAccount { url in
        let schema = try #require(ServerAddress(url)).schema
        let role = "limited_\(schema)"
        try ForeignSQL.run("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0", at: url)
        defer { _ = try? ForeignSQL.run("DROP ROLE \(role)", at: url) }
        expect(.storeBusy, "no connection left") { _ = try open(self.url(url, user: role)) }
        try ForeignSQL.run("ALTER ROLE \(role) NOLOGIN", at: url)
        expect(.storeOpenFailed, "refused") { _ = try open(self.url(url, user: role)) }
      }
    }

    @Test("A full disk, memory or limits of the server: nothing is saved, and the error says what to do")
    func resources() throws {
      try withAccount { url in
        for (state, code, words) in [
          ("53100", PersistenceError.Code.diskFull, "no disk space"), ("53200", .limitExceeded, "no memory"),
          ("53400", .limitExceeded, "limit"), ("54000", .limitExceeded, "limit"),
        ] {
          try ForeignSQL.run(
            """
            CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
            RAISE EXCEPTION 'as if' USING ERRCODE = '\(state)'; END $$
            """,
            "DROP TRIGGER IF EXISTS fails ON account",
            "CREATE TRIGGER fails AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION fail()", at: url)
          let context = try open(url)
          try context.make("Account", ["name": state])
          expect(code, words) { try context.save() }
          try #expect(ForeignSQL.run("SELECT name FROM account", at: url) == [["first"]])
          try ForeignSQL.run("DROP TRIGGER fails ON account", at: url)
          try context.save()
          try ForeignSQL.run("DELETE FROM account WHERE name = '\(state)'", at: url)
        }
      }
    }

    @Test(
      "A trigger of others that fails as Persist's own checks do is an error with the server's words",
      arguments: ["22012", "22P02"], [1, 2])
    func foreignTriggers(state: String, count: Int) throws {
      try withAccount { url in
        let context = try open(url)
        try context.make("Account", ["name": "second", "balance": 1])
        try context.save()
        try ForeignSQL.run(
          """
          CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          RAISE EXCEPTION 'as if' USING ERRCODE = '\(state)'; END $$
          """,
          "CREATE TRIGGER fails AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION fail()", at: url)
        for account in try context.fetch(FetchRequest("Account")).prefix(count) { account["balance"] = 2 }
        let error = persistError { try context.save() }
        #expect(error?.code == .serverFailed, "\(String(describing: error))")
        #expect(error?.engineMessage?.contains("as if (\(state))") == true)
        let update = BatchUpdateRequest("Account", set: ["balance": .value(3)])
        #expect(persistError { try context.execute(update) }?.code == .serverFailed)
        try ForeignSQL.run("DROP TRIGGER fails ON account", at: url)
        try context.save()
        try #expect(ForeignSQL.run("SELECT sum(balance) FROM account", at: url) == [["\(2 + count)"]])
      }
    }

    @Test("A server that is too old is an error that names both versions")
    func oldServer() throws {
      expect(.storeOpenFailed, "PostgreSQL 12,") { try ServerVersion(number: 120_019).requireSupported() }
      try ServerVersion(number: 130_000).requireSupported()
    }

    @Test("A database with another encoding than UTF-8 is an error that names both, for a new store too")
    func otherEncoding() throws {
      try TestServer.withOwnServer { server in
        let usual = try #require(URL(string: server))
        try ForeignSQL.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", at: usual)
        let latin = usual.deletingLastPathComponent().appendingPathComponent("latin")
        expect(.storeOpenFailed, "LATIN1, but a store needs UTF8") { _ = try open(latin) }
        _ = try open(usual)
      }
    }

    @Test("A text too long for its index is an error that says so")
    func longTexts() throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let model = try ManagedObjectModel(
          ModelDescription(entities: [
            EntityDescription("Note", attributes: [.init("text", .string)], uniquenessConstraints: [["text"]])
          ]))
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        var random = SeededRandom(seed: 1)
        let long = String((0..<20_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
        try context.make("Note", ["text": long])
        expect(.limitExceeded, "limit") { try context.save() }
      }
    }

    @Test("A server whose processes are killed in the middle of saves: every save is there or isn't, and that is known")
    func killed() throws {
      try TestServer.withOwnServer { text in
        let url = try #require(URL(string: text + "?schema=shop"))
        let seeding = try open(url)
        for number in 0..<4 { try seeding.make("Account", ["name": "\(number)", "balance": 0]) }
        try seeding.save()
        let outcomes = Mutex((saved: 0, unknown: 0, failed: 0))
        let end = ContinuousClock.now + .seconds(6)
        let group = DispatchGroup()
        for number in 0..<4 {
          group.enter()
          Thread.detachNewThread {
            defer { group.leave() }
            guard let context = try? open(url, options: StoreOptions(busyTimeout: .seconds(20))) else { return }
            while ContinuousClock.now < end {
              do {
                context.reset()
                let account = try context.named("Account", "\(number)")
                account["balance"] = (account["balance"] as? Int ?? 0) + 1
                try context.save()
                outcomes.withLock { $0.saved += 1 }
              } catch let error as PersistenceError where error.code == .saveFailed {
                outcomes.withLock { $0.unknown += 1 }
              } catch {
                outcomes.withLock { $0.failed += 1 }
                Thread.sleep(forTimeInterval: 0.01)
              }
            }
          }
        }
        for _ in 0..<3 {
          Thread.sleep(forTimeInterval: 1.2)
          let processes = """
            SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1
            """
          // The server ends all of its processes then, and recovers.
          if let process = try? ForeignSQL.run(processes, at: url).first.flatMap({ Int32($0[0]) }) {
            kill(process, SIGKILL)
          }
        }
        group.wait()
        let (saved, unknown, failed) = outcomes.withLock { ($0.saved, $0.unknown, $0.failed) }
        print("Saves beside a server that was killed: \(saved), failed \(failed), unknown \(unknown)")
        let sum = try #require(Int(ForeignSQL.run("SELECT sum(balance)::bigint FROM account", at: url)[0][0]))
        #expect(sum == saved && unknown == 0, "\(sum) after \(saved) saves, \(unknown) unknown")
        #expect(saved > 50)
      }
    }
  }
#endif
