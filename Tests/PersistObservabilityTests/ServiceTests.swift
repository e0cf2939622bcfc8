import Foundation
import MetricsTestKit
import Persist
import PersistObservability
import PersistTestSupport
import ServiceLifecycleTestKit
import Testing

@Suite("Stores as services", .timeLimit(.minutes(5)))
struct ServiceTests {
  @Test("A graceful shutdown finishes running saves and closes the stores")
  func shutdown() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let observed = try Observed(nil)
      let container = try observed.container(url)
      let (begun, continuation) = AsyncStream<Void>.makeStream()
      try await testGracefulShutdown { trigger in
        async let run: Void = PersistenceService(container, telemetry: observed.telemetry).run()
        async let save: Void = container.save { context in
          continuation.yield()
          Thread.sleep(forTimeInterval: 0.05)
          try context.create("Shelf")["name"] = "Late"
        }
        for await _ in begun { break }
        trigger.triggerGracefulShutdown()
        try await save
        try await run
      }
      #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
      let again = try Observed(url)
      #expect(try ManagedObjectContext(again.coordinator).count(for: FetchRequest("Shelf")) == 1)
    }
  }

  @Test("A service loads the stores of its container, and closes them when it is canceled")
  func cancellation() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let container = PersistentContainer(name: "Shop", model: try ManagedObjectModel(Observed.model))
      container.persistentStoreDescriptions = [
        PersistentStoreDescription(type: .sqlite, url: url, options: .automaticMigration)
      ]
      let run = Task { try await PersistenceService(container).run() }
      while container.persistentStoreCoordinator.persistentStores.isEmpty { await Task.yield() }
      run.cancel()
      try await run.value
      #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }
  }

  @Test("The gauges show connections, the log and the history")
  func gauges() throws {
    try withTemporaryFile { url in
      var options = StoreOptions.automaticMigration
      options.tracksHistory = true
      let observed = try Observed(url, options: options)
      try observed.fill()
      try observed.fill()
      _ = try ManagedObjectContext(observed.coordinator).fetch(FetchRequest("Book"))
      observed.telemetry.report(observed.coordinator)
      func values(_ label: String) -> [Double] { observed.metrics.recorders(label: label).flatMap(\.values) }
      #expect(values("db.client.connection.max") == [8])
      #expect(values("db.client.connection.count").sorted() == [0, 1])
      #expect(values("persist.history.transactions") == [2])
      #expect(try #require(values("persist.log.size").first) > 0)
      #expect(try #require(values("persist.cache.hits").first) > 0)
      #expect(values("persist.writers.waiting") == [0])
    }
  }

  #if canImport(PersistPostgreSQL)
    @Test("Commits that wait for a synchronous standby are counted, and reads go on", .needsServer)
    func stalledCommits() async throws {
      let server = try RunningServer.startOwn("-c synchronous_commit=on")
      defer { server.stop() }
      let url = try #require(URL(string: server.url))
      func setStandby(_ name: String) throws {
        try ForeignSQL.run(
          ["ALTER SYSTEM SET synchronous_standby_names = '\(name)'", "SELECT pg_reload_conf()"], at: url)
      }
      let observed = try Observed(url)
      try observed.fill()
      #expect(await observed.coordinator.health().stores.map(\.stalledCommits) == [0])
      try setStandby("nobody")
      let coordinator = observed.coordinator
      let save = Task.detached {
        let context = ManagedObjectContext(coordinator)
        try context.create("Shelf")["name"] = "Late"
        try context.save()
      }
      var health = await coordinator.health()
      while health.stores.first?.stalledCommits != 1 {
        #expect(health.isReady)
        try await Task.sleep(for: .milliseconds(100))
        health = await coordinator.health()
      }
      #expect(health.isReady)
      try setStandby("")
      try await save.value
      #expect(await coordinator.health().stores.map(\.stalledCommits) == [0])
      #expect(try ManagedObjectContext(coordinator).count(for: FetchRequest("Shelf")) == 2)
      try observed.close()
    }
  #endif

  @Test("Readiness says which store can't be read, and why")
  func readiness() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let observed = try Observed(url)
      var health = await observed.coordinator.health()
      #expect(health.isReady)
      #expect(health.stores.map(\.info.url) == [url])
      #expect(health.stores.first?.latency != nil)

      try FileManager.default.removeItem(at: url)
      health = await observed.coordinator.health()
      #expect(!health.isReady)
      #expect(health.stores.first?.error?.code == .storeExchanged)

      try observed.close()
      #expect(await !observed.coordinator.health().isReady)
    }
  }
}
