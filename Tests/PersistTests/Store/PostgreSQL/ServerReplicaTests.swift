#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Contexts that read from a replica", .needsServer, .onOwnThread)
  struct ServerReplicaTests {
    private static var model: ManagedObjectModel {
      get throws {
        try ManagedObjectModel(
          ModelDescription(entities: [
            EntityDescription(
              "List", attributes: [AttributeDescription("name", .string)],
              relationships: [RelationshipDescription("notes", toMany: "Note", inverse: "list")]),
            EntityDescription(
              "Note", attributes: [AttributeDescription("text", .string)],
              relationships: [RelationshipDescription("list", to: "List", inverse: "notes")]),
          ]))
      }
    }

    /// A store with a replica that repeats only when it is told to.
    private final class Setting {
      let url: String
      let replica: RunningServer
      let coordinator: PersistentStoreCoordinator
      /// Reads from the replica.
      let reader: ManagedObjectContext
      /// Another program, which knows no replicas.
      let other: ManagedObjectContext

      init(_ url: String, _ replica: RunningServer, others: [String] = []) throws {
        (self.url, self.replica) = (url, replica)
        let model = try ServerReplicaTests.model
        other = ManagedObjectContext(PersistentStoreCoordinator(model: model))
        try other.persistentStoreCoordinator.addStore(.postgreSQL(url), options: StoreOptions(tracksHistory: true))
        coordinator = PersistentStoreCoordinator(model: model)
        reader = ManagedObjectContext(coordinator)
        reader.readsFromReplicas = true
        try addStore()
      }

      func addStore() throws {
        var options = StoreOptions()
        options.readsFrom = [try .postgreSQL(replica.url)]
        try coordinator.addStore(.postgreSQL(url), options: options)
      }

      func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let coordinator = other.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }

      /// Saves a note as another program.
      func saveElsewhere(_ text: String) throws {
        try other.make("Note", ["text": text])
        try other.save()
      }

      private func ask(_ server: String, _ sql: String) throws -> String {
        let address = try #require(URL(string: server).flatMap(ServerAddress.init))
        let connection = try ServerDrivers.current.connect(to: address)
        defer { connection.close() }
        return try connection.run([ServerStatement(sql)])[0].text(0, 0)
      }

      /// Waits until the replica has repeated everything, and stops it there.
      func pause() throws {
        try catchUp()
        _ = try ask(replica.url, "SELECT pg_wal_replay_pause()::text")
        while try ask(replica.url, "SELECT pg_get_wal_replay_pause_state()") != "paused" { usleep(1000) }
      }

      func resume() throws {
        _ = try ask(replica.url, "SELECT pg_wal_replay_resume()::text")
        try catchUp()
      }

      /// Waits until the replica has repeated everything. The server writes its log some time after a commit.
      func catchUp() throws {
        let position = try ask(url, "SELECT pg_current_wal_insert_lsn()::text")
        let question = "SELECT (pg_last_wal_replay_lsn() >= '\(position)')::text"
        while try ask(replica.url, question) != "true" { usleep(1000) }
      }

      func texts(_ context: ManagedObjectContext? = nil) throws -> [String] {
        let context = context ?? reader
        return try context.fetch(FetchRequest("Note", sortedBy: "text")).compactMap { $0["text"] as? String }
      }
    }

    private func withSetting(_ body: (Setting) throws -> Void) throws {
      try TestServer.withReplica { replica in
        try TestServer.withSchema { url in
          let setting = try Setting(url, replica)
          do { try body(setting) } catch {
            try setting.close()
            throw error
          }
          try setting.close()
        }
      }
    }

    @Test("A context that asks for replicas reads from one, and others from the primary server")
    func reading() throws {
      try withSetting { setting in
        try setting.saveElsewhere("early")
        try setting.pause()
        try setting.saveElsewhere("late")
        #expect(try setting.texts() == ["early"])
        #expect(try setting.reader.count(for: FetchRequest<ManagedObject>("Note")) == 1)
        #expect(try setting.texts(ManagedObjectContext(setting.coordinator)) == ["early", "late"])
        let child = ManagedObjectContext(parent: setting.reader)
        #expect(try setting.texts(child) == ["early"])
        try setting.resume()
        #expect(try setting.texts() == ["early", "late"])
        setting.reader.readsFromReplicas = false
        try setting.pause()
        try setting.saveElsewhere("newest")
        #expect(try setting.texts() == ["early", "late", "newest"])
      }
    }

    @Test("A context sees at least what its program has saved, and never goes back in time")
    func ownSaves() throws {
      try withSetting { setting in
        try setting.saveElsewhere("a")
        try setting.pause()
        try setting.saveElsewhere("b")
        #expect(try setting.texts() == ["a"])
        // Saved through another context of the program.
        let writer = ManagedObjectContext(setting.coordinator)
        try writer.make("Note", ["text": "c"])
        try writer.save()
        #expect(try setting.texts() == ["a", "b", "c"])
        try setting.saveElsewhere("d")
        let seen = try setting.texts()
        #expect(seen == ["a", "b", "c", "d"])
        try setting.resume()
        #expect(try setting.texts() == seen)
      }
    }

    @Test("Faults, members and values come from the replica too")
    func faults() throws {
      try withSetting { setting in
        let list = try setting.other.make("List", ["name": "first"])
        let note = try setting.other.make("Note", ["text": "early"])
        note["list"] = list
        try setting.other.save()
        try setting.pause()
        list["name"] = "second"
        try setting.other.make("Note", ["text": "late"])["list"] = list
        try setting.other.save()
        let copy = setting.reader.object(with: list.objectID)
        #expect(copy["name"] as? String == "first")
        #expect(try copy.many("notes").count == 1)
        var request = FetchRequest<FetchedRow>("List")
        request.propertiesToFetch = ["name"]
        #expect(try setting.reader.fetch(request).map { $0["name"] as? String } == ["first"])
      }
    }

    @Test("A save compares with the primary server: what the replica hasn't repeated is a conflict")
    func conflicts() throws {
      try withSetting { setting in
        try setting.saveElsewhere("old")
        try setting.pause()
        let theirs = try #require(try setting.other.fetch(FetchRequest("Note")).first)
        theirs["text"] = "theirs"
        try setting.other.save()
        let ours = try #require(try setting.reader.fetch(FetchRequest("Note")).first)
        #expect(ours["text"] as? String == "old")
        ours["text"] = "ours"
        #expect(persistError { try setting.reader.save() }?.code == .mergeConflict)
        setting.reader.mergePolicy = .mergeByPropertyObjectTrump
        try setting.reader.save()
        #expect(try setting.texts() == ["ours"])
        #expect(try setting.texts(ManagedObjectContext(setting.coordinator)) == ["ours"])
      }
    }

    @Test("What was merged is seen, whether or not the replica has it")
    func merging() throws {
      try withSetting { setting in
        try setting.saveElsewhere("old")
        try setting.pause()
        let ours = try #require(try setting.reader.fetch(FetchRequest("Note")).first)
        #expect(ours["text"] as? String == "old")
        let theirs = try #require(try setting.other.fetch(FetchRequest("Note")).first)
        theirs["text"] = "new"
        try setting.other.save()
        for transaction in try setting.coordinator.transactions() {
          setting.reader.mergeChanges(from: transaction.objectIDNotification())
        }
        #expect(ours["text"] as? String == "new")
      }
    }

    @Test("A store that was removed and added again is read from its replica, which merges advance")
    func addedAgain() throws {
      try withSetting { setting in
        try setting.saveElsewhere("a")
        try setting.catchUp()
        #expect(try setting.texts() == ["a"])
        try setting.coordinator.remove(try #require(setting.coordinator.persistentStores.first))
        try setting.addStore()
        setting.reader.reset()
        try setting.pause()
        try setting.saveElsewhere("b")
        #expect(try setting.texts() == ["a"])
        for transaction in try setting.coordinator.transactions() {
          setting.reader.mergeChanges(from: transaction.objectIDNotification())
        }
        #expect(try setting.texts() == ["a", "b"])
      }
    }

    @Test("While a replica can't be used, the primary server is read")
    func unusable() throws {
      try withSetting { setting in
        try setting.saveElsewhere("a")
        try setting.catchUp()
        #expect(try setting.texts() == ["a"])
        setting.replica.stop()
        #expect(try setting.texts() == ["a"])
        try setting.saveElsewhere("b")
        #expect(try setting.texts() == ["a", "b"])
      }
      // A server that isn't a replica, and one that doesn't exist.
      let server = try TestServer.url.get()
      for place in [server, "postgresql://persist@127.0.0.1:1/postgres?connect_timeout=2"] {
        try TestServer.withSchema { url in
          var options = StoreOptions()
          options.readsFrom = [try .postgreSQL(place)]
          let coordinator = PersistentStoreCoordinator(model: try Self.model)
          let store = try coordinator.addStore(.postgreSQL(url), options: options)
          let context = ManagedObjectContext(coordinator)
          context.readsFromReplicas = true
          try context.make("Note", ["text": "a"])
          try context.save()
          #expect(try context.count(for: FetchRequest("Note", where: "text == 'a'")) == 1)
          try coordinator.remove(store)
        }
      }
    }

    @Test("A replica that hasn't repeated a migration yet isn't read")
    func migration() throws {
      try withSetting { setting in
        try setting.saveElsewhere("a")
        try setting.pause()
        try setting.close()
        let old = ModelVersion(name: "1", model: try Self.model)
        var description = ModelDescription(entities: try Self.model.description.entities)
        description.entities[1].attributes.append(AttributeDescription("color", .string))
        let new = ModelVersion(name: "2", model: try ManagedObjectModel(description))
        let coordinator = PersistentStoreCoordinator(
          model: new.model, registry: ModelRegistry(versions: [old, new]))
        var options = StoreOptions.automaticMigration
        options.readsFrom = [try .postgreSQL(setting.replica.url)]
        let store = try coordinator.addStore(.postgreSQL(setting.url), options: options)
        let context = ManagedObjectContext(coordinator)
        context.readsFromReplicas = true
        #expect(try context.count(for: FetchRequest("Note", where: "color == nil")) == 1)
        try coordinator.remove(store)
      }
    }

    @Test("Changes of a store that is opened on a replica are noticed, though a replica sends no notifications")
    func monitoring() throws {
      try withSetting { setting in
        try setting.saveElsewhere("a")
        try setting.catchUp()
        let primary = try #require(URL(string: setting.url).flatMap(ServerAddress.init))
        let replica = try #require(URL(string: setting.replica.url).flatMap(ServerAddress.init))
        let reports = LockProtected(0)
        let monitor = try ServerStoreMonitor(
          ServerAddress(settings: replica.settings, schema: primary.schema), hasHistory: { true }
        ) { reports.withLock { $0 += 1 } }
        defer { monitor.end() }
        try setting.saveElsewhere("b")
        let end = ContinuousClock.now + .seconds(20)
        while reports.withLock({ $0 }) == 0, ContinuousClock.now < end { usleep(10_000) }
        #expect(reports.withLock { $0 } > 0)
      }
    }

    @Test("Only stores on servers have replicas, on servers too")
    func refused() throws {
      try TestServer.withSchema { url in
        var options = StoreOptions()
        options.readsFrom = [.memory]
        let coordinator = PersistentStoreCoordinator(model: try Self.model)
        #expect(persistError { try coordinator.addStore(.postgreSQL(url), options: options) }?.code == .invalidRequest)
        options.readsFrom = [try .postgreSQL(url)]
        #expect(persistError { try coordinator.addStore(.memory, options: options) }?.code == .invalidRequest)
        try withTemporaryFolder { folder in
          let location = StoreLocation.file(folder.appendingPathComponent("a.sqlite"))
          #expect(persistError { try coordinator.addStore(location, options: options) }?.code == .invalidRequest)
          #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("a.sqlite").path))
        }
      }
    }
  }
#endif
