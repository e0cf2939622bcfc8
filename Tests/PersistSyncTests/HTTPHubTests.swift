import Foundation
import Persist
import PersistSync
import PersistSyncHTTP
import PersistTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Synchronization: over HTTP")
struct HTTPHubTests {
  private func session(_ name: String, _ server: SyncHubServer, failing: Bool = false) -> HTTPHub {
    ServedHosts.shared.set(server, forHost: name, failing: failing)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [ServedRequests.self]
    return HTTPHub(
      URL(string: "http://\(name)/hub") ?? URL(fileURLWithPath: "/"), session: URLSession(configuration: configuration),
      attempts: 8, pause: .milliseconds(1)
    ) { ["Authorization": "Bearer me"] }
  }

  @Test("Two devices and a server become equal, although every third request fails", arguments: [false, true])
  func devices(failing: Bool) async throws {
    try await withTemporaryFolder { folder in
      let model = try ManagedObjectModel(SyncModel.description)
      let server = SyncHubServer(FolderHub(folder.appendingPathComponent("hub"))) {
        $0.headers["authorization"] == "Bearer me"
      }
      let hub = session("devices-\(failing)", server, failing: failing)
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
      let hub = session("users", server, failing: true)
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
      let hub = session("refused", server)
      let error = await #expect(throws: PersistenceError.self) { try await hub.positions() }
      #expect(error?.code == .serverFailed)
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

/// The servers in this process, by host.
private final class ServedHosts: Sendable {
  private struct Served: Sendable {
    let server: SyncHubServer
    let isFailing: Bool
    var count = 0
  }

  static let shared = ServedHosts()
  private let servers = LockProtected<[String: Served]>([:])

  func set(_ server: SyncHubServer, forHost host: String, failing: Bool) {
    let served = Served(server: server, isFailing: failing)
    servers.withLock { $0[host] = served }
  }

  func response(to request: SyncHubRequest, ofHost host: String) async -> SyncHubResponse {
    let served = servers.withLock { servers -> Served? in
      servers[host]?.count += 1
      return servers[host]
    }
    guard let served, !served.isFailing || served.count % 3 != 0 else { return SyncHubResponse(status: 503) }
    return await served.server.response(to: request)
  }
}

/// Requests of a session that servers in this process answer.
private final class ServedRequests: URLProtocol {
  override static func canInit(with request: URLRequest) -> Bool { true }
  override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  // Sendable: used by one task only.
  private struct Load: @unchecked Sendable {
    let load: ServedRequests

    func finish(_ answer: HTTPURLResponse, _ body: Data) {
      load.client?.urlProtocol(load, didReceive: answer, cacheStoragePolicy: .notAllowed)
      load.client?.urlProtocol(load, didLoad: body)
      load.client?.urlProtocolDidFinishLoading(load)
    }
  }

  override func startLoading() {
    guard let url = request.url else { return }
    let sent = SyncHubRequest(
      method: request.httpMethod ?? "GET", path: String(url.path.dropFirst("/hub/".count)),
      headers: request.allHTTPHeaderFields ?? [:], body: request.httpBody ?? Data())
    let load = Load(load: self)
    Task {
      let response = await ServedHosts.shared.response(to: sent, ofHost: url.host() ?? "")
      let answer = HTTPURLResponse(
        url: url, statusCode: response.status, httpVersion: "HTTP/1.1", headerFields: response.headers)
      if let answer { load.finish(answer, response.body) }
    }
  }
}
