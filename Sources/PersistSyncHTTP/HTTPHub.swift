public import Foundation
import Persist
public import PersistSync

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A hub on a server, over HTTP: see ``SyncHubServer`` for the server's side.
///
/// ```swift
/// let hub = HTTPHub(url) { ["Authorization": "Bearer \(token)"] }
/// try await replica.synchronize(with: hub)
/// ```
///
/// A request that fails because of the connection or the server is repeated after a pause, which grows with each
/// failure. Requests can be repeated without harm.
public struct HTTPHub: SyncHub {
  private let url: URL
  private let session: URLSession
  private let attempts: Int
  private let pause: Duration
  private let headers: @Sendable () async throws -> [String: String]

  /// Uses a hub on a server.
  ///
  /// - Parameters:
  ///   - url: The URL at which the server has mounted the hub.
  ///   - session: The session for requests. Where Foundation is the open-source one, requests over `http` with the
  ///     shared session don't use it, because it ends the program if a connection is lost within the header of a
  ///     response; other sessions still do.
  ///   - attempts: How often a request is tried.
  ///   - pause: The pause before the second attempt; each further one is twice as long, at most a minute.
  ///   - headers: Header fields for each request, for example the user's authorization.
  public init(
    _ url: URL, session: URLSession = .shared, attempts: Int = 5, pause: Duration = .milliseconds(500),
    headers: @escaping @Sendable () async throws -> [String: String] = { [:] }
  ) {
    (self.url, self.session, self.headers) = (url, session, headers)
    (self.attempts, self.pause) = (max(attempts, 1), pause)
  }

  /// Asks the server for the entries that are newer than those given.
  public func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
    // A replica's own entries aren't wanted, whatever their numbers.
    let body = SyncEntryLines.data(numbers.filter { $0.value > 0 })
    let (_, data) = try await send("POST", "entries", body, accepting: [200])
    guard let entries = SyncEntryLines.entries(in: data) else { throw failure("Its list of entries can't be read.") }
    return entries
  }

  /// Gets the content of an entry; nil if the server has none.
  public func content(of entry: SyncEntry) async throws -> Data? {
    let (status, data) = try await send("GET", path(entry), accepting: [200, 404, 422])
    if status == 422 {
      throw PersistenceError(
        .malformedFile, "The server can't read a change set. \(String(decoding: data.prefix(500), as: UTF8.self))")
    }
    return status == 200 ? data : nil
  }

  /// Sends the content of an entry.
  public func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
    try await send("PUT", path(entry), content, accepting: [204, 409]).status == 204
  }

  /// Asks the server whether it has an entry. A server that doesn't answer such requests gets the content again.
  public func contains(_ entry: SyncEntry) async throws -> Bool {
    try await send("HEAD", path(entry), accepting: [200, 404, 405, 501]).status == 200
  }

  /// Asks the server for the parts of large values.
  public func parts() async throws -> [SyncEntry] {
    let (status, data) = try await send("GET", "parts", accepting: [200, 404])
    guard status == 200 else { return [] }
    guard let entries = SyncEntryLines.entries(in: data) else { throw failure("Its list of parts can't be read.") }
    return entries
  }

  /// Deletes entries on the server.
  public func remove(_ entries: [SyncEntry]) async throws {
    for entry in entries { _ = try await send("DELETE", path(entry), accepting: [204, 404]) }
  }

  /// Asks the server for the positions of all replicas.
  public func positions() async throws -> [ReplicaPosition] {
    let (_, data) = try await send("GET", "positions", accepting: [200])
    guard let positions = try? JSONDecoder().decode([ReplicaPosition].self, from: data) else {
      throw failure("Its list of replicas can't be read.")
    }
    return positions
  }

  /// Sends the position of a replica.
  public func setPosition(_ position: ReplicaPosition) async throws {
    let body = try JSONEncoder().encode(position)
    _ = try await send("PUT", "positions/\(position.replica.uuidString)", body, accepting: [204])
  }

  /// Deletes the positions of replicas on the server.
  public func removePositions(of replicas: [UUID]) async throws {
    for replica in replicas {
      _ = try await send("DELETE", "positions/\(replica.uuidString)", accepting: [204, 404])
    }
  }

  private func path(_ entry: SyncEntry) -> String { "changes/\(entry.replica.uuidString)/\(entry.number)" }

  private func failure(_ what: String, status: Int = 0) -> PersistenceError {
    let host = url.host().map { host in url.port.map { "\(host):\($0)" } ?? host }
    let fix =
      switch status {
      case 401, 403: "Check the authorization that requests contain."
      case 404, 405: "Check the address of the hub, '\(url.path)' on this server."
      default: "Synchronize again later. If it fails again, check the server."
      }
    return PersistenceError(.serverFailed, "The hub at \(host ?? "the server") failed. \(what)", fix: fix)
  }

  /// The reason why there was no answer, in words.
  private static func words(_ code: URLError.Code) -> String {
    switch code {
    case .cannotConnectToHost: "Nothing accepts connections there."
    case .cannotFindHost, .dnsLookupFailed: "Its name can't be resolved."
    case .timedOut: "It didn't answer in time."
    case .networkConnectionLost: "The connection was lost."
    case .badServerResponse, .cannotParseResponse: "Its answer was cut off, or isn't HTTP."
    case .notConnectedToInternet: "There is no network connection."
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      "A secure connection isn't possible."
    default: "The connection failed with the code \(code.rawValue)."
    }
  }

  /// - Returns: The status and the content of the response.
  private func response(to request: URLRequest) async throws -> (Int, Data) {
    #if canImport(FoundationNetworking) && !os(Windows)
      if session === URLSession.shared, let plain = PlainRequest(request) {
        let (status, data) = try await plain.response()
        if !(300..<400).contains(status) { return (status, data) }
      }
    #endif
    do {
      let (data, response) = try await session.data(for: request)
      return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    } catch let error as URLError where error.code != .cancelled {
      throw NoResponse(message: Self.words(error.code))
    }
  }

  private func send(
    _ method: String, _ path: String, _ body: Data? = nil, accepting accepted: Set<Int>
  ) async throws -> (status: Int, data: Data) {
    var wait = pause
    for attempt in 1... {
      var request = URLRequest(url: url.appendingPathComponent(path))
      request.httpMethod = method
      request.httpBody = body
      for (name, value) in try await headers() { request.setValue(value, forHTTPHeaderField: name) }
      var problem = ""
      do {
        let (status, data) = try await response(to: request)
        if accepted.contains(status) { return (status, data) }
        problem = "It answered \(status)."
        if let text = String(data: data.prefix(500), encoding: .utf8), !text.isEmpty { problem += " \(text)" }
        guard status >= 500 || status == 429 || status == 408 || status == 0 else {
          throw failure(problem, status: status)
        }
      } catch let error as NoResponse {
        problem = error.message
      }
      if attempt >= attempts { throw failure(problem) }
      try await Task.sleep(for: wait)
      wait = min(wait * 2, .seconds(60))
    }
    throw failure("It didn't answer.")
  }
}

/// The reason why there is no complete response.
struct NoResponse: Error {
  let message: String
}
