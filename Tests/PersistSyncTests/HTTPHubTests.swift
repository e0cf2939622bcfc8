import Foundation
import Persist
import PersistSync
import PersistSyncHTTP
import PersistTestSupport
import Testing

@Suite("Synchronization: over HTTP")
struct HTTPHubTests {
  @Test("Two devices and a server become equal, although every third request fails", arguments: [false, true])
  func devices(failing: Bool) async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let server = SyncHubServer(FolderHub(folder.appendingPathComponent("hub"))) {
        $0.headers["authorization"] == "Bearer me"
      }
      let hub = served("devices-\(failing)", server, failing: failing)
      let devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
      }
      for (number, device) in devices.enumerated() {
        let context = ManagedObjectContext(device.coordinator)
        let item = try context.create("Item")
        (item["id"], item["name"]) = (UUID(), "from \(number)")
        try context.save()
      }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try devices[0].contents().count == 2)
      #expect(try await hub.positions().count == 2)
      _ = try await devices[0].replica.compact(hub, forgetting: .seconds(3600))
      let new = try Device(folder.appendingPathComponent("c.sqlite"), model, identifiedBy: SyncModel.identifiers)
      try await new.replica.synchronize(with: hub)
      #expect(try new.contents() == devices[0].contents())
    }
  }

  @Test("Each user has the part of the server's store that the request's header allows")
  func users() async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let (main, identifiers) = (FolderHub(folder.appendingPathComponent("hub")), SyncModel.identifiers)
      let whole = try Device(folder.appendingPathComponent("server.sqlite"), model, identifiedBy: identifiers)
      let replica = whole.replica
      let server = SyncHubServer { request in
        guard request.headers["authorization"] == "Bearer me" else { return nil }
        let mine = try FetchPredicate("name BEGINSWITH 'me'")
        return try ScopedHub(
          main, server: replica, user: "me", scope: SyncScope(["Item": .init(reading: mine, writing: mine)]))
      }
      let context = ManagedObjectContext(whole.coordinator)
      for name in ["me 1", "other"] {
        let item = try context.create("Item")
        (item["id"], item["name"]) = (UUID(), name)
      }
      try context.save()
      let hub = served("users", server, failing: true)
      let device = try Device(folder.appendingPathComponent("a.sqlite"), model, identifiedBy: identifiers)
      try await device.replica.synchronize(with: hub)
      #expect(try device.contents().count == 1)
      let own = ManagedObjectContext(device.coordinator)
      for name in ["me 2", "mine"] {
        let item = try own.create("Item")
        (item["id"], item["name"]) = (UUID(), name)
      }
      try own.save()
      #expect(try await device.replica.synchronize(with: hub).refusals.count == 1)
      #expect(try device.contents().count == 2)
      #expect(try whole.contents().count == 3)
      #expect(try await hub.positions().count == 1)
    }
  }

  @Test("A server refuses strangers, and what isn't a change set")
  func refused() async throws {
    try await withTemporaryFolder { folder in
      let server = SyncHubServer(FolderHub(folder)) { $0.headers["authorization"] == "Bearer other" }
      let hub = served("refused", server)
      let error = await #expect(throws: PersistenceError.self) { try await hub.positions() }
      #expect(error?.code == .serverFailed)
      #expect(error?.description.contains("It answered 403. Check the authorization") == true, "\(error as Any)")
      // A port on which nothing listens.
      let nowhere = HTTPHub(try #require(URL(string: "http://127.0.0.1:1/hub")), attempts: 1)
      let missing = await #expect(throws: PersistenceError.self) { try await nowhere.positions() }
      #expect(
        missing?.message == "The hub at 127.0.0.1:1 failed. Nothing accepts connections there.", "\(missing as Any)")
      let open = SyncHubServer(FolderHub(folder)) { _ in true }
      let id = UUID().uuidString
      for (method, path, status) in [
        ("PUT", "changes/\(id)/1", 422), ("GET", "changes/\(id)/1", 404), ("GET", "changes/../1", 400),
        ("PUT", "positions/\(id)", 400), ("GET", "other", 404), ("PATCH", "changes/\(id)/1", 405),
      ] {
        let response = await open.response(to: SyncHubRequest(method: method, path: path, body: Data("x".utf8)))
        #expect(response.status == status, "\(method) \(path)")
      }
      let response = await open.response(to: SyncHubRequest(method: "POST", path: "entries", body: Data("x y".utf8)))
      #expect(response.status == 400)
    }
  }
}
