#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// A pooler gives each transaction another connection to the server, on which nothing of earlier ones is left.
  @Suite("Stores behind a pooler", .needsServer, .needsPooler)
  struct ServerPoolerTests {
    private func withStores(
      _ count: Int, _ body: (_ pooled: [PersistentStoreCoordinator], _ url: String) throws -> Void
    ) throws {
      let model = try HistoryModel.make()
      try TestServer.withPooler { pooler in
        try TestServer.withSchema { url in
          let schema = try #require(URL(string: url).flatMap(ServerAddress.init)).schema
          let pooled = pooler.url + "?schema=" + schema
          let coordinators = try (0..<count).map { _ in
            let coordinator = PersistentStoreCoordinator(model: model)
            var options = StoreOptions.automaticMigration
            options.tracksHistory = true
            options.postsRemoteChangeNotifications = true
            try coordinator.addStore(.postgreSQL(pooled), options: options)
            return coordinator
          }
          defer {
            for coordinator in coordinators {
              for store in coordinator.persistentStores { try? coordinator.remove(store) }
            }
          }
          try body(coordinators, pooled)
        }
      }
    }

    @Test("Many programs save and read through two connections, and each gets its own answers")
    func parallel() throws {
      try withStores(4) { coordinators, _ in
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          do {
            let context = ManagedObjectContext(coordinators[number % coordinators.count])
            for step in 0..<25 {
              try context.make(step % 2 == 0 ? "Team" : "Tag", [step % 2 == 0 ? "name" : "label": "\(number) \(step)"])
              if step % 3 == 0 { try context.make("Person", ["name": "\(number) \(step)", "age": Int32(step)]) }
              try context.save()
              let found = try context.fetch(FetchRequest("Person", where: "name BEGINSWITH %@", "\(number) "))
              if found.count != step / 3 + 1 { failures.withLock { $0.append("\(number) \(step): \(found.count)") } }
              if number % 2 == 0 { context.reset() }
            }
          } catch { failures.withLock { $0.append("\(number): \(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let context = ManagedObjectContext(coordinators[0])
        let (teams, transactions) = (
          try context.count(for: FetchRequest<ManagedObject>("Team")), try coordinators[1].transactions().count
        )
        #expect(teams == 104 && transactions == 200)
      }
    }

    @Test("A pinned context keeps its state while others write")
    func generation() throws {
      try withStores(2) { coordinators, _ in
        let reader = ManagedObjectContext(coordinators[0])
        try reader.setQueryGeneration(from: .current)
        #expect(try reader.count(for: FetchRequest<ManagedObject>("Team")) == 0)
        let writer = ManagedObjectContext(coordinators[1])
        try writer.make("Team", ["name": "a"])
        try writer.save()
        #expect(try reader.count(for: FetchRequest<ManagedObject>("Team")) == 0)
        reader.refreshAllObjects()
        #expect(try reader.count(for: FetchRequest<ManagedObject>("Team")) == 1)
      }
    }

    @Test("Changes by others are noticed, though notifications can't pass a pooler")
    func notifications() throws {
      try withStores(2) { coordinators, _ in
        let noticed = DispatchSemaphore(value: 0)
        let observer = NotificationCenter.default.addObserver(
          forName: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: coordinators[0], queue: nil
        ) { _ in noticed.signal() }
        defer { NotificationCenter.default.removeObserver(observer) }
        let writer = ManagedObjectContext(coordinators[1])
        try writer.make("Team", ["name": "a"])
        try writer.save()
        #expect(noticed.wait(timeout: .now() + 10) == .success)
      }
    }

    @Test("A store is migrated through a pooler")
    func migration() throws {
      try withStores(1) { coordinators, url in
        let context = ManagedObjectContext(coordinators[0])
        try context.make("Team", ["name": "a"])
        try context.save()
        var description = HistoryModel.description
        description.entities[2].attributes.append(AttributeDescription("color", .string, default: .string("red")))
        let new = try ManagedObjectModel(description)
        let coordinator = PersistentStoreCoordinator(
          model: new,
          registry: ModelRegistry(versions: [
            ModelVersion(name: "1", model: try HistoryModel.make()), ModelVersion(name: "2", model: new),
          ]))
        let store = try coordinator.addStore(.postgreSQL(url), options: .automaticMigration)
        let found = try ManagedObjectContext(coordinator).fetch(FetchRequest("Team"))
        #expect(found.map { $0["color"] as? String } == ["red"])
        try coordinator.remove(store)
      }
    }
  }
#endif
