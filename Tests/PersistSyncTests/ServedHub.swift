import Foundation
import Persist
import PersistSyncHTTP
import PersistTestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A hub over HTTP whose server is in this process.
///
/// - Parameter failing: Whether every third request fails.
func served(_ name: String, _ server: SyncHubServer, failing: Bool = false) -> HTTPHub {
  ServedHosts.shared.set(server, forHost: name, failing: failing)
  let configuration = URLSessionConfiguration.ephemeral
  configuration.protocolClasses = [ServedRequests.self]
  return HTTPHub(
    URL(string: "http://\(name)/hub") ?? URL(fileURLWithPath: "/"), session: URLSession(configuration: configuration),
    attempts: 8, pause: .milliseconds(1)
  ) { ["Authorization": "Bearer me"] }
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
